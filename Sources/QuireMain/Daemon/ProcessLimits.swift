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

    /// Descriptors that are open, and how many may be.
    static func descriptors() -> (used: Int, limit: Int) {
        var limit = rlimit()
        let known = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        guard let directory = opendir("/proc/self/fd") else { return (0, known ? Int(clamping: limit.rlim_cur) : 0) }
        defer { closedir(directory) }
        // Without `.`, `..` and the directory's own.
        var used = -3
        while readdir(directory) != nil { used += 1 }
        return (used, known ? Int(clamping: limit.rlim_cur) : 0)
    }

    /// Two arenas serve the daemon's threads; with one a thread, what is freed in one is not used again by the others, and
    /// an idle daemon stays as large as it ever was.
    ///
    /// Buffers of transfers come and go, and the kernel clears each page that it gives anew: what is freed stays until work
    /// has rested (`MemoryService`).
    static func shapeHeap() {
        _ = quire_limit_arenas(2)
        _ = quire_keep_freed(32 << 20, 8 << 20)
    }
}
