import CLinux
import Glibc
import Synchronization

/// A POSIX thread that runs one closure, and can be waited for.
final class OwnedThread: Sendable {
    private let handle = Mutex<pthread_t?>(nil)

    /// Starts the thread. Nil when the system has no room for one.
    init?(name: String, _ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(
            Body {
                // A name is for people only: a kernel that refuses it changes nothing.
                _ = quire_name_thread(name)
                body()
            })
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                // The one reference that `init` handed over.
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            return nil
        }
        let started = thread
        handle.withLock { $0 = started }
    }

    deinit { if let thread = handle.withLock({ $0.take() }) { pthread_detach(thread) } }

    /// Waits until the closure has returned. Safe to call again.
    func join() {
        if let thread = handle.withLock({ $0.take() }) { pthread_join(thread, nil) }
    }

    private final class Body {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
