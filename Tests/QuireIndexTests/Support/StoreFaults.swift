import Glibc
import Synchronization

@testable import QuireIndex
@testable import QuireCore

/// Has looking at the store fail, for root as well.
final class StoreFaults: Sendable {
    /// The errno of each name that cannot be looked at, and of each directory that cannot be opened.
    private let errors = Lock<(status: [String: Int32], open: [String: Int32])>(([:], [:]))

    var calls: StoreCalls {
        let plain = StoreCalls()
        var calls = StoreCalls()
        calls.status = { [self] directory, name, status in
            fails(errors.withLock { $0.status[String(cString: name)] }) ?? plain.status(directory, name, status)
        }
        calls.open = { [self] directory, name in
            fails(errors.withLock { $0.open[String(cString: name)] }) ?? plain.open(directory, name)
        }
        return calls
    }

    private func fails(_ error: Int32?) -> Int32? {
        guard let error else { return nil }
        errno = error
        return -1
    }

    /// What has one of these names, in any directory, cannot be looked at.
    func hide(_ names: String..., error: Int32) {
        errors.withLock { errors in for name in names { errors.status[name] = error } }
    }

    /// Directories with this name cannot be opened.
    func lock(_ name: String, error: Int32) { errors.withLock { $0.open[name] = error } }

    /// All is well again.
    func end() { errors.withLock { $0 = ([:], [:]) } }
}
