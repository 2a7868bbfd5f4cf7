import Synchronization

/// A mark that is set once: to tell work on another thread to end, or that something was said.
package final class OnceMark: Sendable {
    // Taken alone.
    private let mark = Lock(false)

    package init() {}

    package var isSet: Bool { mark.withLock { $0 } }

    /// - Returns: whether it was not set before.
    @discardableResult package func set() -> Bool {
        mark.withLock { isSet in
            defer { isSet = true }
            return !isSet
        }
    }
}
