import CFuse
import CLinux
import Glibc
import Logging
import QuireCore
import Synchronization

/// One line in the log for each request, when it is answered: what `-o debug` shows.
///
///     OPEN letter.txt  pid 4711 = 0, 31 µs
///     LOOKUP notes/no-such  pid 4711 = ENOENT, 18 µs
///
/// Requests that the kernel answers by itself (passthrough, its caches) are not among them.
final class RequestTrace: Sendable {
    private struct Line {
        let text: String
        let process: Int32
        let began: Int
    }

    private let table: NodeTable
    private let logger: Logger
    /// Requests that are not yet answered. Taken alone.
    private let lines = Lock<[UInt64: Line]>([:])

    init(table: NodeTable, logger: Logger) {
        self.table = table
        self.logger = logger
    }

    /// A request was read.
    ///
    /// - Parameter request: all of it, borrowed.
    func began(_ header: RequestHeader, _ request: UnsafeRawBufferPointer) {
        let arguments = UnsafeRawBufferPointer(rebasing: request.dropFirst(RequestHeader.size))
        let line = Line(
            text: RequestText.describe(header, arguments, path: path), process: header.process,
            began: MonotonicClock.now())
        if header.kind.isAnswered {
            lines.withLock { $0[header.unique] = line }
        } else {
            logger.debug("\(line.text)  pid \(line.process)")
        }
    }

    /// A request is about to be answered with an errno, or with `length` bytes.
    func answering(_ unique: UInt64, error: CInt, length: Int) {
        guard let line = lines.withLock({ $0.removeValue(forKey: unique) }) else { return }
        let microseconds = (MonotonicClock.now() - line.began) / 1000
        let result = error == 0 ? (length > 0 ? "\(length) bytes" : "0") : ErrnoName.of(-error)
        logger.debug("\(line.text)  pid \(line.process) = \(result), \(microseconds) µs")
    }

    private func path(_ node: UInt64) -> String {
        guard node != 0 else { return "-" }
        guard let path = table.path(of: table.node(node)) else { return "(nameless)" }
        return path.isRoot ? "/" : path.description
    }
}

/// A request in words, from its raw bytes.
enum RequestText {
    /// - Parameters:
    ///   - arguments: what follows the header.
    ///   - path: the drive path of a node id.
    static func describe(
        _ header: RequestHeader, _ arguments: UnsafeRawBufferPointer, path: (UInt64) -> String
    ) -> String {
        let kind = header.kind.name
        switch kind {
        case "INIT", "DESTROY", "INTERRUPT", "BATCH_FORGET": return kind
        case "RENAME", "RENAME2":
            let names = Self.names(arguments.dropFirst(kind == "RENAME" ? 8 : 16))
            let target = arguments.count >= 8 ? path(arguments.loadUnaligned(as: UInt64.self)) : ""
            guard names.count >= 2 else { return kind }
            return "\(kind) \(joined(path(header.node), names[0])) → \(joined(target, names[1]))"
        case "READ", "WRITE", "READDIR", "READDIRPLUS":
            guard arguments.count >= 20 else { return kind }
            let offset = arguments.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            let size = arguments.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
            return "\(kind) \(path(header.node)) \(size) at \(offset)"
        default:
            guard let skipped = nameOffset[kind] else { return "\(kind) \(path(header.node))" }
            let name = Self.names(arguments.dropFirst(skipped)).first ?? ""
            return attributeKinds.contains(kind)
                ? "\(kind) \(path(header.node)) \(name)" : "\(kind) \(joined(path(header.node), name))"
        }
    }

    /// Bytes between the header and the name (linux/fuse.h).
    private static let nameOffset = [
        "LOOKUP": 0, "UNLINK": 0, "RMDIR": 0, "SYMLINK": 0, "MKDIR": 8, "MKNOD": 16, "LINK": 8, "CREATE": 16,
        "GETXATTR": 8, "SETXATTR": 8, "REMOVEXATTR": 0,
    ]
    private static let attributeKinds: Set<String> = ["GETXATTR", "SETXATTR", "REMOVEXATTR"]

    private static func joined(_ directory: String, _ name: String) -> String {
        directory == "/" ? name : "\(directory)/\(name)"
    }

    /// Strings that end with a NUL each.
    private static func names(_ bytes: Slice<UnsafeRawBufferPointer>) -> [String] {
        bytes.split(separator: 0).prefix(2).map { DisplayBytes.escaped(Array($0)) }
    }
}

/// An errno as its symbol.
enum ErrnoName {
    static func of(_ number: CInt) -> String {
        guard let name = quire_errno_name(number) else { return "errno \(number)" }
        return String(cString: name)
    }
}
