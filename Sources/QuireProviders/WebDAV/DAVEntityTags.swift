import QuireCore
import Synchronization

/// Whether the entity tags of documents say what they should, as the probe found.
///
/// A server may give a document one in listings and another when it is asked for alone (`-gzip`), or another from each of
/// the machines behind one address. By such versions all documents would be fetched again for ever.
final class DAVEntityTags: Sendable {
    /// Innermost lock.
    private let state = Lock(false)

    /// Size and time of change are what versions are made of. From then on they stay that, also after the daemon began anew
    /// (`DocumentProvider.decision`): with each change of it all documents would have other versions.
    var areIgnored: Bool { state.withLock { $0 } }

    /// - Returns: whether they were before.
    @discardableResult
    func ignore() -> Bool {
        state.withLock { areIgnored in
            defer { areIgnored = true }
            return areIgnored
        }
    }

    /// Takes `ignore` back, where nothing has been made of it.
    func heed() { state.withLock { $0 = false } }
}
