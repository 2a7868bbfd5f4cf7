import QuireCore
import QuireSync
import Synchronization

/// Of a store, in memory.
final class RememberedIdentity: StoreIdentity {
    private let identity = Lock<String?>(nil)

    func known() -> String? { identity.withLock { $0 } }
    func note(_ found: String) { identity.withLock { $0 = found } }
}
