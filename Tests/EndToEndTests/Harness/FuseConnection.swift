import Foundation
import Glibc

/// The kernel's side of a mount, found without a single system call through the mount itself.
struct FuseConnection: Sendable, Equatable {
    /// The mount's device number; `/sys/fs/fuse/connections/` has a directory of this name.
    let minor: Int
    /// The file system's type, as `/proc/self/mountinfo` says it.
    let type: String

    /// The mount on top at `mountpoint`; nil when nothing is mounted there.
    static func at(_ mountpoint: String) -> FuseConnection? {
        let table = table()
        let wanted = mountpoint.replacingOccurrences(of: " ", with: "\\040")
        let lines = table.split(separator: "\n").map { $0.split(separator: " ") }
        guard let line = lines.last(where: { $0.count > 6 && $0[4] == wanted }),
            let minor = line[2].split(separator: ":").last.flatMap({ Int($0) }),
            let dash = line.firstIndex(of: "-"), dash + 1 < line.count
        else { return nil }
        return FuseConnection(minor: minor, type: String(line[dash + 1]))
    }

    /// Read to its end: Foundation takes the first part of a long table for all of it.
    private static func table() -> String {
        guard let file = fopen("/proc/self/mountinfo", "re") else { return "" }
        defer { fclose(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer.prefix(count) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Ends every request in flight with an error: what frees processes that hang in the mount. Needs root.
    func abort() {
        guard type.hasPrefix("fuse"), let file = fopen("\(Self.control)/\(minor)/abort", "w") else { return }
        fputs("1", file)
        fclose(file)
    }

    private static let control = "/sys/fs/fuse/connections"

    /// Mounts the control file system where it is not, so that `abort` works. Once a process.
    static let controlIsMounted: Bool = {
        if at(control) != nil { return true }
        return mount("fusectl", control, "fusectl", 0, nil) == 0
    }()
}
