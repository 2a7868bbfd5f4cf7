import Synchronization

/// Whether another store than before was found at the provider, or none. What that had is here only then, should it not come
/// back.
final class FoundStore: Sendable {
    private let state = Atomic(false)

    var isAnother: Bool {
        get { state.load(ordering: .relaxed) }
        set { state.store(newValue, ordering: .relaxed) }
    }
}
