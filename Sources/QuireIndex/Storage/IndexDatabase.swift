import GRDB
import QuireCore

/// The connections to an index's file, which give way to those to another file when that is damaged.
///
/// A monitor, as who uses them are threads of the index's own; none of them may use them within a use.
final class IndexDatabase: @unchecked Sendable {
    private enum Queue {
        static let users = 0
        static let exchanged = 1
    }

    // Guarded by `monitor`: everything below it.
    private let monitor = ThreadMonitor(conditions: 2)
    private var pool: DatabasePool?
    private var users = 0
    private var exchanges = 0
    private var isExchanging = false

    init(_ pool: DatabasePool) { self.pool = pool }

    /// How often the connections were exchanged; stays the same within a use.
    var generation: Int { monitor.locked { exchanges } }

    /// Runs `body` with the connections; waits while they are exchanged, which takes some milliseconds.
    ///
    /// - Throws: `.corrupt` while there is no file, what `body` throws otherwise.
    func use<Value>(_ body: (DatabasePool) throws -> Value) throws -> Value {
        let found = monitor.locked { () -> DatabasePool? in
            while isExchanging { monitor.wait(Queue.exchanged) }
            if pool != nil { users += 1 }
            return pool
        }
        guard let found else { throw IndexError.damaged(cause: nil) }
        defer {
            monitor.locked {
                users -= 1
                if users == 0, isExchanging { monitor.signal(Queue.users) }
            }
        }
        return try body(found)
    }

    /// Has `make` close the connections and open others, when nobody uses them any more. Where it throws there are none.
    func exchange(_ make: (DatabasePool?) throws -> DatabasePool) throws {
        let former = monitor.locked { () -> DatabasePool? in
            isExchanging = true
            while users > 0 { monitor.wait(Queue.users) }
            return pool
        }
        var next: DatabasePool?
        defer {
            monitor.locked {
                pool = next
                exchanges += 1
                isExchanging = false
                monitor.broadcast(Queue.exchanged)
            }
        }
        next = try make(former)
    }
}
