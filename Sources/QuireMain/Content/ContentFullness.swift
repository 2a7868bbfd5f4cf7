import QuireCore
import Synchronization

/// Whether the words of documents take all that they may. Once they do, there is room again when a tenth of it is free: else each
/// document that goes would have all others looked at.
final class ContentFullness: Sendable {
    /// What is new.
    enum Change: Sendable {
        case full, roomAgain
    }

    // Taken alone.
    private let state = Lock(false)

    var isFull: Bool { state.withLock { $0 } }

    /// Notes how much they take.
    func note(_ size: ByteCount, limit: ByteCount) -> Change? {
        state.withLock { isFull in
            let wasFull = isFull
            isFull = size.bytes >= (wasFull ? limit.bytes / 10 * 9 : limit.bytes)
            return isFull == wasFull ? nil : isFull ? .full : .roomAgain
        }
    }
}
