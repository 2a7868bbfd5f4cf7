import QuireCore
import Synchronization

/// Room for a download that is under way; callable from any thread.
final class SpaceReservation: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let left: Lock<Int64>
    private let whole: Int64
    private let giveBack: @Sendable (Int64) -> Void

    /// - Parameter giveBack: takes bytes that are not reserved any longer.
    init(_ size: ByteCount, _ giveBack: @escaping @Sendable (Int64) -> Void) {
        left = Lock(size.bytes)
        whole = size.bytes
        self.giveBack = giveBack
    }

    /// So much of it has arrived from the beginning on, and counts as being here.
    func used(_ arrived: ByteCount) { keep(max(0, whole - arrived.bytes)) }

    /// All of it is here, or will not come.
    func release() { keep(0) }

    private func keep(_ bytes: Int64) {
        let freed = left.withLock { left in
            let freed = max(0, left - bytes)
            left -= freed
            return freed
        }
        if freed > 0 { giveBack(freed) }
    }
}
