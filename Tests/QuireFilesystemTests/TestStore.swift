import CFuse
import CLinux
import Glibc
import Logging
import QuireCoordination
import QuireCore
import QuireStore
import Synchronization

@testable import QuireFilesystem

/// A store in a fresh temporary directory with a driver over it that is not mounted: the kernel's part is played by the
/// tests. Removed with the value.
final class TestStore {
    let root: String
    let driver: Driver
    private let recorded = RecordedEvents()

    init(descriptorLimit: Int = 64, containerRoots: Set<FileName> = []) throws {
        var template = Array("/tmp/quire-driver-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw TestFailure("mkdtemp: errno \(errno)") }
        root = String(cString: made)
        let descriptor = Descriptor(owning: Glibc.open(root, O_PATH | O_DIRECTORY | O_CLOEXEC))
        let table = NodeTable(
            rootDescriptor: descriptor, rootInode: try StoreCall.status(of: descriptor).inode,
            descriptorLimit: descriptorLimit, descriptors: 20_000)
        let services = DriveServices(
            sink: recorded, content: NoContent(), attributes: NoAttributes(), coordinator: Coordinator())
        driver = Driver(
            tree: try DriveTree(opening: root), table: table, services: services, containerRoots: containerRoots,
            logger: Logger(label: "test"))
    }

    deinit { removeTree(root) }

    /// What was recorded so far.
    var events: [StoreEvent] { recorded.all }

    /// Writes a file beside whatever the kernel knows.
    func write(_ path: String, _ text: String) throws {
        let descriptor = Glibc.open(root + "/" + path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw TestFailure("open \(path): errno \(errno)") }
        let bytes = Array(text.utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
        close(descriptor)
    }

    func makeDirectory(_ path: String) throws {
        guard mkdir(root + "/" + path, 0o755) == 0 else { throw TestFailure("mkdir \(path): errno \(errno)") }
    }

    /// As the kernel does: looks every name up in turn.
    func lookUp(_ path: RelativePath) throws -> Node {
        var node = driver.table.root
        for name in path.components {
            let directory = try driver.resolver.directory(node)
            let status = try StoreCall.status(in: directory, name)
            node = driver.table.lookUp(FileStatus(status), in: node, name: name)
        }
        return node
    }

    func status(_ path: RelativePath) throws -> FileStatus {
        guard let status = try driver.tree.status(at: path) else { throw TestFailure("\(path) is not there") }
        return status
    }

    /// Opens a handle, as OPEN does.
    func open(_ node: Node, forWriting: Bool) throws -> OpenFile {
        let flags = forWriting ? O_RDWR : O_RDONLY
        let descriptor = try driver.resolver.open(node, flags)
        let file = OpenFile(node: node, descriptor: descriptor, isWriter: forWriting, claim: nil)
        _ = driver.register(file, try StoreCall.status(of: descriptor), flags)
        return file
    }

    /// Opens a handle on a placeholder that reads what arrives in the file `name`.
    ///
    /// - Parameter isLast: no descriptor is left when that is to be opened once more.
    func openArriving(_ node: Node, in name: String, isLast: Bool = false) throws -> OpenFile {
        let descriptor = try driver.resolver.open(node, O_RDONLY)
        let status = try StoreCall.status(of: descriptor)
        let content = Descriptor(owning: Glibc.open(root + "/" + name, O_RDONLY | O_CLOEXEC))
        let arrival = Arrival(ArrivedFile(inode: UInt64(status.st_ino), content, isLast: isLast), status)
        let file = OpenFile(node: node, descriptor: descriptor, isWriter: false, claim: nil, arrival: arrival)
        _ = driver.register(file, status, O_RDONLY)
        return file
    }

    private func removeTree(_ path: String) {
        guard let directory = opendir(path) else {
            unlink(path)
            return
        }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            var status = stat()
            guard lstat(path + "/" + name, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { removeTree(path + "/" + name) } else { unlink(path + "/" + name) }
        }
        closedir(directory)
        rmdir(path)
    }
}

/// The sink that the driver writes to and the test reads.
final class RecordedEvents: StoreEventSink {
    private let events = Lock<[StoreEvent]>([])

    func record(_ event: StoreEvent) { events.withLock { $0.append(event) } }

    var all: [StoreEvent] { events.withLock { $0 } }
}

/// Content of which all is here.
private final class ArrivedFile: ArrivingContent {
    let inode: UInt64
    let size: Int64 = 1
    private let file: Descriptor
    private let isLast: Bool
    private let isSeen = Atomic(false)

    /// - Parameter isLast: its descriptor is one only for who looks first, which is before it is opened once more.
    init(inode: UInt64, _ file: Descriptor, isLast: Bool) {
        (self.inode, self.file, self.isLast) = (inode, file, isLast)
    }

    var descriptor: Int32 { isSeen.exchange(true, ordering: .relaxed) && isLast ? -1 : file.raw }
    func isHere(_ range: Range<Int64>) -> Bool { true }
    func bring(_ range: Range<Int64>) async throws(MaterializeError) {}
}

private struct NoContent: ContentSource {
    func materialize(path: RelativePath, inode: UInt64) async throws(MaterializeError) {
        throw MaterializeError(errno: ENETUNREACH, message: "offline")
    }

    func open(path: RelativePath, inode: UInt64) async throws(MaterializeError) -> (any ArrivingContent)? { nil }
}

private struct NoAttributes: ItemAttributeSource {
    func mayHaveTags(inode: UInt64) -> Bool { false }
    func attribute(_ name: String, at path: RelativePath) async -> [UInt8]? { nil }
    func attributeNames(at path: RelativePath) async -> [String] { [] }
    func setAttribute(_ name: String, to value: [UInt8]?, at path: RelativePath) async -> Int32 { EPERM }
}

struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
