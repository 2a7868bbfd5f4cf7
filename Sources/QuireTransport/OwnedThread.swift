import Glibc
package import QuireCore

/// A thread of our own, for what may block.
package enum OwnedThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new detached thread, with all signals blocked (they go to the daemon's own handler).
    package static func start(_ body: @escaping @Sendable () -> Void) throws(QuireError) {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let box = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            throw QuireError(.failed, "no thread: \(String(cString: strerror(result)))")
        }
        pthread_detach(thread)
    }
}
