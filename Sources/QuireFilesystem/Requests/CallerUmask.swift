import CLinux

/// The umask of threads that create files for programs: none, because the kernel has applied the program's own.
///
/// The thread leaves the process's umask to the rest of the daemon.
enum CallerUmask {
    /// From now on this thread creates files with exactly the modes it names. Returns the umask before.
    static func enter() -> CInt { quire_set_thread_umask(0) }

    /// Back to the umask that `enter` returned.
    static func leave(_ before: CInt) {
        if before >= 0 { _ = quire_set_thread_umask(before) }
    }
}
