import Glibc

/// A file descriptor that is closed when its owner ends.
struct OpenFile: ~Copyable {
    let descriptor: Int32

    /// - Parameter descriptor: open, and nobody else's to close.
    init(taking descriptor: Int32) { self.descriptor = descriptor }

    deinit { _ = Glibc.close(descriptor) }
}
