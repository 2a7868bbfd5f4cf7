import Glibc

/// Where a table is measured.
enum FreshDirectory {
    /// Makes a fresh directory in a place, and removes it after the body.
    ///
    /// - Parameter place: `tmpfs` is /dev/shm; `ext4` is $TMPDIR or /var/tmp, whatever is there; or a directory.
    /// - Parameter body: is given the directory, and how to call the place.
    static func with(in place: String, _ body: (_ root: String, _ title: String) throws -> Void) throws {
        let base =
            switch place {
            case "tmpfs": "/dev/shm"
            case "ext4": getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
            default: place
            }
        var template = Array("\(base)/quire-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchmarkError("mkdtemp", base) }
        let root = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Never through a mount that could not be ended.
        defer { _ = try? Program.run("rm", "-rf", "--one-file-system", root) }
        try body(root, kind(of: root))
    }

    /// The file system's name: `- TYPE` in the line of /proc/self/mountinfo that has the path's device.
    private static func kind(of path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, let file = fopen("/proc/self/mountinfo", "re") else { return path }
        defer { fclose(file) }
        let number = Device(status.st_dev)
        let device = "\(number.major):\(number.minor)"
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let words = text.split(separator: " ")
            guard words.count > 4, words[2] == device, let dash = words.firstIndex(of: "-") else { continue }
            return String(words[dash + 1])
        }
        return path
    }
}
