package import Glibc

/// Unix socket addresses of any length: the kernel takes 107 bytes, so the directory is named by a descriptor.
package enum SocketAddress {
    /// A stream socket that blocks: waiting for room in the listener's queue is right, refusing is not.
    package static func makeSocket() throws(QuireError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else {
            throw QuireError(.failed, "no socket: \(String(cString: strerror(errno)))")
        }
        return descriptor
    }

    /// Makes a descriptor non-blocking and keeps it from other programs.
    package static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// `O_PATH` of <fcntl.h>, which the Glibc module does not show.
    private static let onlyPath: Int32 = 0o10000000

    /// Calls `body` with the address of `directory/name`.
    package static func withAddress<R>(
        directory: String, name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(QuireError) -> R
    ) throws(QuireError) -> R {
        let handle = open(directory, onlyPath | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else {
            throw QuireError(.notFound, "cannot open \(directory): \(String(cString: strerror(errno)))")
        }
        defer { close(handle) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("/proc/self/fd/\(handle)/\(name)".utf8)
        precondition(path.count < MemoryLayout.size(ofValue: address.sun_path), "a socket's name is short")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let raw = address
        let result: Result<R, QuireError> = withUnsafePointer(to: raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                do throws(QuireError) {
                    return .success(try body(address, socklen_t(MemoryLayout<sockaddr_un>.size)))
                } catch {
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }
}
