import Glibc
import Testing

/// A fresh directory, removed with all in it at the end.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/quire-command-XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template))
        path = String(cString: made)
    }

    func write(_ name: String, _ text: String) throws {
        let file = try #require(fopen("\(path)/\(name)", "w"))
        defer { fclose(file) }
        fputs(text, file)
    }

    func make(_ name: String) throws -> String {
        try #require(mkdir("\(path)/\(name)", 0o755) == 0)
        return "\(path)/\(name)"
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        if let directory = opendir(path) {
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard name != ".", name != ".." else { continue }
                // A file, a symlink, or else a directory.
                if unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
            }
        }
        rmdir(path)
    }
}
