import CLinux
import Glibc

/// What the daemon asks of the kernel for itself.
enum ProcessLimits {
    /// Allows itself as many descriptors as it may have: clients, directories and transfers share them.
    static func raiseDescriptors() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        // Stays as it is where the kernel refuses; all parts work under 1,024.
        _ = setrlimit(resource, &limit)
    }

    /// Two arenas serve the daemon's threads; with one a thread, what is freed in one is not used again by the others, and
    /// an idle daemon stays as large as it ever was.
    static func limitArenas() { _ = quire_limit_arenas(2) }
}
