import Glibc

/// Paths of small files below one directory, made before anything is measured.
final class Names {
    /// `d0/f0` …: 100 files to a directory.
    let paths: [UnsafeMutablePointer<CChar>]
    /// What the paths are relative to.
    let directory: Int32
    let count: Int

    /// - Parameter base: exists.
    init(in base: String, count: Int, prefix: String = "f") throws(BenchmarkError) {
        // O_PATH: opening asks the file system for nothing.
        directory = open(base, 0o10000000 | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw BenchmarkError("open", base) }
        self.count = count
        paths = (0..<count).map { strdup("d\($0 / 100)/\(prefix)\($0)") }
    }

    deinit {
        close(directory)
        for path in paths { free(path) }
    }

    /// Makes the directories that the files are in.
    func makeDirectories() throws(BenchmarkError) {
        for number in 0...((count - 1) / 100) where mkdirat(directory, "d\(number)", 0o755) != 0 && errno != EEXIST {
            throw BenchmarkError("mkdir", "d\(number)")
        }
    }

    /// Calls the body with each; a negative answer is an error named after the call.
    @inline(__always)
    func each(
        _ call: String, passes: Int = 1, _ body: (Int32, UnsafeMutablePointer<CChar>) -> Int32
    ) throws(BenchmarkError) {
        for _ in 0..<passes {
            for path in paths where body(directory, path) < 0 {
                throw BenchmarkError(call, String(cString: path))
            }
        }
    }
}

/// The calls of the rows.
enum Call {
    /// Create, write, close.
    @inline(__always)
    static func create(_ directory: Int32, _ path: UnsafePointer<CChar>, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        let file = openat(directory, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
        guard file >= 0 else { return -1 }
        guard write(file, bytes.baseAddress, bytes.count) == bytes.count else { return -1 }
        return close(file)
    }

    /// Open, read to the end, close.
    @inline(__always)
    static func read(_ directory: Int32, _ path: UnsafePointer<CChar>, _ bytes: UnsafeMutableRawBufferPointer) -> Int32
    {
        let file = openat(directory, path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return -1 }
        while true {
            let count = Glibc.read(file, bytes.baseAddress, bytes.count)
            if count == 0 { return close(file) }
            if count < 0 { return -1 }
        }
    }

    @inline(__always)
    static func status(_ directory: Int32, _ path: UnsafePointer<CChar>) -> Int32 {
        var status = stat()
        return fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW)
    }
}

/// A buffer of the body's own, filled with one byte.
func withBytes<Result>(_ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Result) rethrows -> Result {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 4096)
    defer { bytes.deallocate() }
    bytes.initializeMemory(as: UInt8.self, repeating: 0x5A)
    return try body(bytes)
}
