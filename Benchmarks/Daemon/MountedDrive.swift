import Foundation
import Glibc
import QuireCore
import QuireTransport

/// A drive in memory, mounted from its beginning to `end`.
final class MountedDrive {
    private let quire: String
    private let root: URL
    var home: String { root.appending(path: "home").path }
    var store: String { home + "/drive" }
    var mountpoint: String { root.appending(path: "mount").path }

    init(quire: String, options: String? = nil) throws {
        self.quire = quire
        root = URL(filePath: "/dev/shm/quire-daemon-bench-\(UUID())")
        try FileManager.default.createDirectory(at: root.appending(path: "mount"), withIntermediateDirectories: true)
        let mounting = ["mount", "--home", home, mountpoint]
        try Command.run(quire, mounting + (options.map { ["-o", $0] } ?? []))
    }

    /// Sends nothing to the provider.
    func pause() throws { try run("pause", "--home", home) }

    /// Returns when the index knows of all that programs did.
    func settle() throws { try run("find", "--home", home, "--count") }

    /// With so many files that stay on this device, a thousand in each directory, which the index knows. No pictures are made of
    /// them, which would take the processors for hours.
    convenience init(quire: String, files: Int) throws {
        try self.init(quire: quire)
        try run("unmount", "--home", home)
        let configuration = home + "/config.toml"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.hasPrefix("patterns = ") ? "patterns = [\"*\"]" : $0 == "make = true" ? "make = false" : $0
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: configuration))
        for number in 0..<files {
            let directory = "\(store)/\(SyntheticTree.directoryName(number / 1000))"
            if number % 1000 == 0 { mkdir(directory, 0o755) }
            let path = "\(directory)/\(SyntheticTree.name(number))"
            let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            guard file >= 0, ftruncate(file, number) == 0, close(file) == 0 else { throw QuireError.last(path) }
        }
        try run("mount", "--home", home, mountpoint)
        // Waits for the comparison of the store with the index.
        try run("sync", "--home", home)
    }

    func end() throws {
        try run("unmount", "--home", home)
        try FileManager.default.removeItem(at: root)
    }

    private func run(_ arguments: String...) throws { try Command.run(quire, arguments) }

    /// Claim and release over the socket, median in microseconds.
    func overSocket() async throws -> Double {
        let connection = try DriveConnection(home: home)
        defer { connection.close() }
        let access = CoordinationMethods.Access(path: WirePath("a document.txt"), access: "write")
        var times: [Double] = []
        for _ in 0..<5_000 {
            let start = ContinuousClock.now
            let claim = try await connection.call(CoordinationMethods.Acquire.self, .init([access]))
            _ = try await connection.call(CoordinationMethods.Release.self, .init(claim: claim.claim))
            times.append((ContinuousClock.now - start) / .microseconds(1))
        }
        return times.sorted()[times.count / 2]
    }

    /// From the return of a program's call to a running query's line, in milliseconds: the 99th of 100.
    func stitching() async throws -> Double {
        let connection = try DriveConnection(home: home)
        defer { connection.close() }
        let (updates, update) = AsyncStream<ContinuousClock.Instant>.makeStream()
        let find = ItemMethods.Find.Parameters(expression: "name == *.stitched")
        let query = Task {
            _ = try await connection.call(
                QueryMethods.Live.self, .init(query: find, batchingMilliseconds: 0)
            ) {
                // Not what its upload changes.
                if $0.changed == nil { update.yield(.now) }
            }
        }
        defer { query.cancel() }
        var told = updates.makeAsyncIterator()
        // What there was: nothing.
        _ = await told.next()
        var times: [Double] = []
        for number in 0..<300 {
            let path = "\(mountpoint)/\(number)"
            let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            guard file >= 0, close(file) == 0 else { throw QuireError.last(path) }
            for (from, to) in [(path, path + ".stitched"), (path + ".stitched", path)] {
                guard rename(from, to) == 0 else { throw QuireError.last(path) }
                let done = ContinuousClock.now
                guard let heard = await told.next() else { break }
                times.append((heard - done) / .milliseconds(1))
            }
        }
        return times.sorted()[times.count * 99 / 100]
    }

    /// How many of so many queries, each begun when a program's `close` or `unlink` had returned, did not know of it.
    func misses(of trials: Int) async throws -> Int {
        let connection = try DriveConnection(home: home)
        defer { connection.close() }
        var misses = 0
        for number in 0..<trials / 2 {
            let path = "\(mountpoint)/\(number).found"
            let find = ItemMethods.Find.Parameters(expression: "name == \"\(number).found\"", countOnly: true)
            let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            guard file >= 0, close(file) == 0 else { throw QuireError.last(path) }
            misses += try await connection.call(ItemMethods.Find.self, find).count == 1 ? 0 : 1
            guard unlink(path) == 0 else { throw QuireError.last(path) }
            misses += try await connection.call(ItemMethods.Find.self, find).count == 0 ? 0 : 1
        }
        return misses
    }

    /// An app that presents `count` documents, as long as the connection lasts.
    func present(_ count: Int) async throws -> DriveConnection {
        let app = try DriveConnection(home: home)
        for number in 0..<count {
            let path = RelativePath([FileName("other \(number)")].compactMap(\.self))
            _ = try await app.call(PresenterMethods.Add.self, .init(path: WirePath(path)))
        }
        return app
    }

    /// What a plain program does: it creates, writes, reads and removes documents.
    func workAsProgram() throws {
        var byte: UInt8 = 0x61
        for number in 0..<200 {
            let path = "\(mountpoint)/document \(number)"
            let writer = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            guard writer >= 0, write(writer, &byte, 1) == 1, close(writer) == 0 else { throw QuireError.last(path) }
            let reader = open(path, O_RDONLY | O_CLOEXEC)
            guard reader >= 0, read(reader, &byte, 1) == 1, close(reader) == 0 else { throw QuireError.last(path) }
            guard unlink(path) == 0 else { throw QuireError.last(path) }
        }
    }
}

extension QuireError {
    fileprivate static func last(_ path: String) -> QuireError {
        QuireError(.failed, "\(path): \(String(cString: strerror(errno)))")
    }
}
