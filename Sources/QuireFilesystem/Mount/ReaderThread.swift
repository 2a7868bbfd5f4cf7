import CLinux
import Glibc

/// A thread of its own, outside the cooperative pool: it may sleep in the kernel.
enum ReaderThread {
    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts `body` on a new detached thread of 1 MiB stack. Signals are left to other threads.
    static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        // READ answers from a buffer of up to 1 MiB on the stack's heap fallback; the frames themselves are small.
        pthread_attr_setstacksize(&attributes, 4 << 20)
        var all = sigset_t()
        var old = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &old)
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(Body(name: name, run: body))
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                quire_name_thread(body.name)
                body.run()
                return nil
            }, retained.toOpaque())
        pthread_sigmask(SIG_SETMASK, &old, nil)
        pthread_attr_destroy(&attributes)
        precondition(result == 0, "no thread could be made: errno \(result)")
    }
}
