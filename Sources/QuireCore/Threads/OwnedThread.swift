import CLinux
import Glibc
import Synchronization

/// A POSIX thread that runs one closure: outside the cooperative pool, so it may sleep in the kernel. Signals are left to
/// other threads.
package final class OwnedThread: Sendable {
    private let handle = Lock<pthread_t?>(nil)

    /// Starts the thread. Nil when the system has no room for one.
    ///
    /// - Parameters:
    ///   - name: for people, 15 bytes at the most.
    ///   - niceness: what is added to the process's own, 0 … 19: threads that nobody waits for leave the processor to those
    ///     somebody waits for.
    package init?(name: String, niceness: Int = 0, _ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(
            Body {
                // A name is for people only, niceness for speed only: a kernel that refuses them changes nothing.
                _ = quire_name_thread(name)
                if niceness > 0 { _ = quire_add_thread_niceness(CInt(niceness)) }
                body()
            })
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
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

    /// Starts a thread that nobody waits for.
    ///
    /// - Throws: `.failed` when the system has no room for one (EAGAIN, pthread_create(3)).
    package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(QuireError) {
        guard OwnedThread(name: name, body) != nil else {
            throw QuireError(.failed, "no thread: \(String(cString: strerror(EAGAIN)))")
        }
    }

    deinit { if let thread = handle.withLock({ $0.take() }) { pthread_detach(thread) } }

    /// Waits until the closure has returned. Safe to call again.
    package func join() {
        if let thread = handle.withLock({ $0.take() }) { pthread_join(thread, nil) }
    }

    private final class Body {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
