import Glibc

/// A file beside the index that is there while it is open: found at start, the index was not closed.
struct OpenMarker: Sendable {
    enum Finding {
        case closed
        case notClosed
        /// SQLite said that the file is damaged.
        case damaged
    }

    let path: String

    func read() -> Finding {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return .closed }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        return Glibc.read(descriptor, &byte, 1) == 1 && byte == UInt8(ascii: "d") ? .damaged : .notClosed
    }

    func markOpen() { write("o") }
    func markDamaged() { write("d") }
    func remove() { unlink(path) }

    /// Not being able to is no error: then the next start checks less, or more.
    private func write(_ text: StaticString) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        _ = Glibc.write(descriptor, text.utf8Start, text.utf8CodeUnitCount)
        close(descriptor)
    }
}
