import FoundationEssentials

/// What a process calls itself, for people.
enum ProcessName {
    /// The name in /proc; nil where there is no such process any more.
    static func of(_ pid: Int32) -> String? {
        guard pid > 0, let data = FileManager.default.contents(atPath: "/proc/\(pid)/comm") else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").first.map(String.init)
    }
}
