import QuireCore
import Synchronization

/// Closes descriptors of files that have lost their last name, on a thread of its own.
///
/// Closing the last one is what removes the file from a disk, and takes a journal milliseconds: neither the program that
/// removed it nor the next request waits for that.
final class DescriptorCloser: Sendable {
    private struct State {
        var waiting: [Descriptor] = []
        var isClosing = false
    }

    private let pool = BackgroundPool(label: "quire-closer", width: 1)
    /// Innermost lock; descriptors are closed outside.
    private let state = Lock(State())

    /// So many may wait; the next is closed by the caller, so that descriptors do not run out.
    private static let limit = 1024

    /// Closes `descriptor` soon, once nobody else holds it either.
    func close(_ descriptor: Descriptor) {
        let starts = state.withLock { state -> Bool in
            guard state.waiting.count < Self.limit else { return false }
            state.waiting.append(descriptor)
            defer { state.isClosing = true }
            return !state.isClosing
        }
        if starts { pool.submit { self.closeAll() } }
    }

    private func closeAll() {
        while true {
            let batch = state.withLock { state -> [Descriptor] in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isClosing = false }
                return state.waiting
            }
            // Those who wait are closed when the batch ends.
            if batch.isEmpty { return }
        }
    }
}
