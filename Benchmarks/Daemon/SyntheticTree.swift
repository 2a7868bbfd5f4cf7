import Glibc
import QuireCore
import QuireIndex

/// An index of a tree that is nowhere: the events of its making, and no store beneath.
struct SyntheticTree {
    static let words = [
        "report", "invoice", "holiday", "photo", "notes", "draft", "final", "budget", "letter", "contract", "sketch",
        "minutes",
        "recipe", "index", "summary", "travel", "scan", "backup", "music", "garden",
    ]
    static let extensions = ["pdf", "txt", "jpg", "png", "docx", "md", "swift", "odt", "csv", "html"]

    let directory: String
    let index: MetadataIndex
    let count: Int
    private let root: UInt64

    /// - Parameter count: of files, a thousand in each directory.
    init(files count: Int) async throws {
        var template = Array("/dev/shm/quire-index-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw QuireError(.failed, "no directory below /dev/shm") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        mkdir(directory + "/drive", 0o755)
        self.count = count
        (index, _) = try MetadataIndex.open(at: directory + "/index.sqlite", driveRoot: directory + "/drive")
        var root = stat()
        stat(directory + "/drive", &root)
        self.root = UInt64(root.st_ino)
        var inode = UInt64(root.st_ino) + 1
        for top in 0..<max(1, count / 1000) {
            let parent = inode
            record(parent: UInt64(root.st_ino), Self.directoryName(top), inode, .directory, size: 0)
            inode += 1
            for number in 0..<min(1000, count) {
                record(parent: parent, Self.name(top * 1000 + number), inode, .file, size: Int64(top * 1000 + number))
                inode += 1
            }
            if top % 20 == 19 { try await index.settle() }
        }
        try await index.settle()
        try await index.namesIndexed()
    }

    /// Files more, in the root.
    func addFiles(_ count: Int) {
        let first = root + 10_000_000
        for number in 0..<count { record(parent: root, "more \(number)", first + UInt64(number), .file, size: 1) }
    }

    /// `invoice 12`.
    static func directoryName(_ number: Int) -> String { "\(words[number % 20]) \(number)" }

    /// `invoice draft 12345.pdf`.
    static func name(_ number: Int) -> String {
        let mixed = number &* 2_654_435_761
        return "\(words[mixed % 20]) \(words[(mixed / 20) % 20]) \(number).\(extensions[(mixed / 400) % 10])"
    }

    private func record(parent: UInt64, _ name: String, _ inode: UInt64, _ kind: FileKind, size: Int64) {
        guard let name = FileName(name) else { return }
        let time = FileTime(seconds: 1_700_000_000 + Int(inode % 10_000_000), nanoseconds: 0)
        index.record(
            .created(
                parent: parent, name: name,
                FileStatus(
                    kind: kind, mode: 0o644, size: size, mtime: time, ctime: time, device: 1, inode: inode,
                    linkCount: 1,
                    blocks: 8)))
    }

    /// The size of the index file, in bytes.
    var bytes: Int {
        var total = 0
        for suffix in ["", "-wal"] {
            var status = stat()
            if stat(directory + "/index.sqlite" + suffix, &status) == 0 { total += Int(status.st_size) }
        }
        return total
    }

    func remove() {
        index.close()
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite.open"] { unlink(directory + "/" + name) }
        rmdir(directory + "/drive")
        rmdir(directory)
    }
}
