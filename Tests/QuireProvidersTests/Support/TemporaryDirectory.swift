import Glibc

/// A fresh directory, removed with all in it when the last reference goes.
final class TemporaryDirectory: Sendable {
    let path: String

    init(in parent: String = "/tmp") throws {
        var template = Array("\(parent)/quire-providers-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(errno: errno) }
        self.path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// One that is there already.
    init(adopting path: String) { self.path = path }

    deinit { Shell.run("rm", "-rf", path) }

    func appending(_ name: String) -> String { "\(path)/\(name)" }

    struct Failure: Error { let errno: Int32 }
}

/// Foreign programs.
enum Shell {
    /// Runs a program and waits for it; answers its exit code.
    @discardableResult
    static func run(_ arguments: String...) -> Int32 {
        let copies = arguments.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var child: pid_t = 0
        guard posix_spawnp(&child, arguments[0], nil, nil, copies + [nil], environ) == 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1, errno == EINTR {}
        return status >> 8 & 0xFF
    }
}

/// Plain files, as a foreign program handles them.
enum Plain {
    static func write(_ bytes: [UInt8], to path: [UInt8], append: Bool = false) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0o644)
        precondition(descriptor >= 0, "cannot write \(String(decoding: path, as: UTF8.self)): \(errno)")
        defer { close(descriptor) }
        precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    static func write(_ text: String, to path: String, append: Bool = false) {
        write(Array(text.utf8), to: Array(path.utf8), append: append)
    }

    static func read(_ path: String) -> [UInt8]? {
        let descriptor = Glibc.open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = Glibc.read(descriptor, &buffer, buffer.count), count > 0 {
            bytes += buffer.prefix(count)
        }
        return bytes
    }

    static func text(_ path: String) -> String? { read(path).map { String(decoding: $0, as: UTF8.self) } }

    private static func open(_ path: [UInt8], _ flags: Int32, _ mode: mode_t) -> Int32 {
        (path.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer {
            $0.baseAddress.map { Glibc.open($0, flags, mode) } ?? -1
        }
    }

    static func names(in path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
