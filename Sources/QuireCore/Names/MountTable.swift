import Glibc

/// The mounts of this process, as `/proc/self/mountinfo` lists them (proc(5)).
package struct MountTable: Sendable {
    /// One mount.
    package struct Entry: Sendable, Equatable {
        /// Absolute, as the kernel shows it.
        package var mountpoint: String
        /// Its type, as `fuse.quire`.
        package var filesystem: String
        /// What the mount calls its device.
        package var source: String

        /// Whether it is a drive of Quire's.
        package var isDrive: Bool { filesystem == "fuse.quire" || (filesystem.hasPrefix("fuse") && source == "quire") }
    }

    /// In the order in which they were mounted.
    package let entries: [Entry]

    /// Reads the kernel's list; empty where there is no `/proc`.
    package static func current() -> MountTable {
        guard let file = fopen("/proc/self/mountinfo", "re") else { return MountTable(text: []) }
        defer { fclose(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer.prefix(count) }
        return MountTable(text: text)
    }

    /// Reads the text of `/proc/self/mountinfo`; lines of another form are left out.
    package init(text: [UInt8]) {
        entries = text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard let dash = fields.firstIndex(of: "-"), dash > 4, fields.count > dash + 2 else { return nil }
            return Entry(
                mountpoint: Self.unescaped(fields[4]), filesystem: fields[dash + 1],
                source: Self.unescaped(fields[dash + 2]))
        }
    }

    /// What is mounted at `path` last, so on top.
    package func entry(at path: String) -> Entry? { entries.last { $0.mountpoint == path } }

    /// Blanks, tabs, newlines and backslashes are written as three octal digits.
    private static func unescaped(_ field: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: "\\"), rest.count >= 4,
                let value = UInt8(String(decoding: rest.dropFirst().prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(4)
            } else {
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
