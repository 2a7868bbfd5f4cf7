import Glibc

/// The system calls that the workloads are made of; each throws with the path it failed on.
enum Files {
    static func make(_ path: String, size: Int) throws(BenchmarkError) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw BenchmarkError("create", path) }
        defer { close(descriptor) }
        try withBytes(size) { bytes in
            write(descriptor, bytes.baseAddress, size) == size
        } orFail: {
            BenchmarkError("write", path)
        }
    }

    static func read(_ path: String) throws(BenchmarkError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BenchmarkError("open", path) }
        defer { close(descriptor) }
        try withBytes(64 << 10) { bytes in
            while true {
                let count = Glibc.read(descriptor, bytes.baseAddress, bytes.count)
                if count <= 0 { return count == 0 }
            }
        } orFail: {
            BenchmarkError("read", path)
        }
    }

    static func status(_ path: String) throws(BenchmarkError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw BenchmarkError("stat", path) }
    }

    /// The number of entries.
    static func list(_ path: String) throws(BenchmarkError) -> Int {
        guard let directory = opendir(path) else { throw BenchmarkError("list", path) }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }

    /// Reads or writes blocks of one file, in order or at random places that are the same in each run.
    static func transfer(
        _ path: String, blocks: Int, of size: Int, writing: Bool, shuffled: Bool, places: Int? = nil
    ) throws(BenchmarkError) {
        let descriptor = open(path, writing ? O_CREAT | O_RDWR | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw BenchmarkError("open", path) }
        defer { close(descriptor) }
        var state: UInt64 = 42
        try withBytes(size) { bytes in
            for block in 0..<blocks {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let place = shuffled ? Int(state >> 33) % (places ?? blocks) : block
                let count =
                    writing
                    ? pwrite(descriptor, bytes.baseAddress, size, off_t(place * size))
                    : pread(descriptor, bytes.baseAddress, size, off_t(place * size))
                if count != size { return false }
            }
            return true
        } orFail: {
            BenchmarkError(writing ? "write" : "read", path)
        }
    }

    private static func withBytes(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) -> Bool, orFail error: () -> BenchmarkError
    ) throws(BenchmarkError) {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 4096)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 0x5A)
        guard body(bytes) else { throw error() }
    }
}
