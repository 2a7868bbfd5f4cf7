import Glibc
import QuireCore

/// An open handle: what the kernel's `fh` stands for (the address of this object, kept alive until RELEASE).
///
/// `@unchecked Sendable`: `position` is guarded as the node's properties.
final class OpenFile: @unchecked Sendable {
    let node: Node
    /// Open in the store, without O_APPEND: the kernel says where each write goes.
    var descriptor: Descriptor { arrival?.settled ?? opened }
    /// What was opened in the store.
    let opened: Descriptor
    /// Where `opened` was dataless.
    let arrival: Arrival?
    /// How many descriptors it may take: with `arrival` that of what has come, and that of the document in its place.
    var descriptors: Int { arrival == nil ? 1 : 3 }
    let isWriter: Bool
    /// Whether the program may read through it.
    let opensForReading: Bool
    /// The write claim held until the handle closes or comes to rest, where claims or presenters were about when it was
    /// opened.
    let claim: HeldClaim?
    /// Whether the kernel hands each write on as it comes, neither collected nor written by itself. Set before the kernel
    /// knows of the handle.
    var writesDirectly = false
    /// Where it is among the node's handles. Guarded by NodeTable.state.
    var position = 0
    /// The thread that opened it; 0 where nobody knows.
    let thread: pid_t

    init(
        node: Node, descriptor: Descriptor, isWriter: Bool, opensForReading: Bool = true, claim: HeldClaim?,
        thread: pid_t = 0, arrival: Arrival? = nil
    ) {
        self.node = node
        self.opened = descriptor
        self.arrival = arrival
        self.isWriter = isWriter
        self.opensForReading = opensForReading
        self.claim = claim
        self.thread = thread
    }

    /// The number for the kernel; balanced by `release(_:)`.
    func retainedHandle() -> UInt64 { UInt64(UInt(bitPattern: Unmanaged.passRetained(self).toOpaque())) }

    /// The file behind a number that the kernel handed back.
    static func borrowed(_ handle: UInt64) -> OpenFile? {
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(handle)) else { return nil }
        return Unmanaged<OpenFile>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Ends the kernel's hold.
    static func release(_ handle: UInt64) {
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(handle)) else { return }
        Unmanaged<OpenFile>.fromOpaque(pointer).release()
    }
}
