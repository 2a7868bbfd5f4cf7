import Glibc
import QuireCore

/// Reads a directory's names.
enum DirectoryNames {
    /// Calls `body` with each name but `.` and `..`, NUL-terminated and valid during the call only.
    ///
    /// - Parameter directory: not moved: the names are read through a descriptor of their own.
    static func forEach(
        in directory: Int32, _ body: (UnsafePointer<CChar>) throws(SystemFailure) -> Void
    ) throws(SystemFailure) {
        let copy = try SystemCalls.check("open") { openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = fdopendir(copy) else {
            let code = errno
            _ = close(copy)
            throw SystemFailure(code, "fdopendir")
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                let code = errno
                if code != 0 { throw SystemFailure(code, "readdir") }
                return
            }
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { throw SystemFailure(EIO, "readdir") }
            let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            if strcmp(name, ".") == 0 || strcmp(name, "..") == 0 { continue }
            try body(name)
        }
    }

    /// Whether a directory lists a name byte for byte.
    static func contains(_ wanted: FileName, in directory: Int32) throws(SystemFailure) -> Bool {
        var isFound = false
        try forEach(in: directory) { name in
            if !isFound { isFound = bytes(of: name).elementsEqual(wanted.bytes) }
        }
        return isFound
    }

    /// The name's bytes, without the NUL; valid as long as `name`.
    static func bytes(of name: UnsafePointer<CChar>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: UnsafeRawPointer(name).assumingMemoryBound(to: UInt8.self), count: strlen(name))
    }
}
