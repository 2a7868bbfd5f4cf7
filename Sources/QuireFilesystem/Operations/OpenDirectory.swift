import Glibc
import Synchronization

/// An open directory: what `fh` stands for between OPENDIR and RELEASEDIR.
///
/// Positions are the store's own directory positions, so they stay valid while entries come and go.
final class OpenDirectory: Sendable {
    struct Stream: @unchecked Sendable {
        // Guarded by the mutex around it.
        let raw: OpaquePointer
        var position: Int
    }

    let node: Node
    let stream: Mutex<Stream>

    private let handles: HandleBudget

    /// Takes ownership of `raw`.
    init(node: Node, owning raw: OpaquePointer, countedIn handles: HandleBudget) {
        self.node = node
        self.handles = handles
        handles.take()
        self.stream = Mutex(Stream(raw: raw, position: 0))
    }

    deinit {
        stream.withLock { _ = closedir($0.raw) }
        handles.giveBack()
    }

    /// The number for the kernel; balanced by `release(_:)`.
    func retainedHandle() -> UInt64 { UInt64(UInt(bitPattern: Unmanaged.passRetained(self).toOpaque())) }

    /// The directory behind a number that the kernel handed back.
    static func borrowed(_ handle: UInt64) -> OpenDirectory? {
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(handle)) else { return nil }
        return Unmanaged<OpenDirectory>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Ends the kernel's hold.
    static func release(_ handle: UInt64) {
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(handle)) else { return }
        Unmanaged<OpenDirectory>.fromOpaque(pointer).release()
    }
}
