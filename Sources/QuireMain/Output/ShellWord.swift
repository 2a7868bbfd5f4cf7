/// A word of a command that people copy into a shell.
enum ShellWord {
    /// The text in quotes, where it needs them.
    static func quoted(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            byte > 0x7F || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "/._-".utf8.contains(byte)
        }
        return plain
            ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
