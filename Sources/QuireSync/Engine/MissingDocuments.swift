import QuireCore
import Synchronization

/// What is missing at the provider, as far as the last look told: the content of that is here only, and stays. Known by its
/// version: its directory may be moved meanwhile. All methods may be called from any thread.
final class MissingDocuments: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let known = Lock<Set<ProviderVersion>>([])

    func insert(_ more: Set<HeldDeletion>) { known.withLock { $0.formUnion(more.lazy.map(\.version)) } }

    /// Forgets what is not in `all`: it is there again, or gone here.
    func set(_ all: Set<HeldDeletion>) { known.withLock { $0 = Set(all.lazy.map(\.version)) } }

    var versions: Set<ProviderVersion> { known.withLock { $0 } }

    func contains(_ base: BaseRecord) -> Bool { known.withLock { $0.contains(base.version) } }
}
