import CFuse
import Glibc
import Synchronization

/// What the driver does and has done since it was mounted.
package struct DriverReport: Sendable {
    /// Times of requests of one kind, in nanoseconds; a percentile may be an eighth too long.
    package struct Times: Sendable {
        package let count: UInt64
        package let median: Int
        package let ninetyNinth: Int
        package let longest: Int
        package let total: Int

        init(_ counts: LatencyCounts) {
            count = counts.count
            median = counts.nanoseconds(share: 0.5)
            ninetyNinth = counts.nanoseconds(share: 0.99)
            longest = counts.longestNanoseconds
            total = counts.totalNanoseconds
        }
    }

    /// Requests of one kind, by the kernel's name for it.
    package struct Kind: Sendable {
        package let name: String
        /// Answered by the thread that read them.
        package let atOnce: Times
        /// Answered later: they waited, or were long.
        package let waited: Times
    }

    /// Most frequent first.
    package let kinds: [Kind]
    /// Requests that wait now.
    package let parked: Int
    /// Signals that reached programs whose request waited.
    package let interrupted: Int
    /// Files and directories that the kernel knows.
    package let nodes: Int
    package let directoryDescriptors: Int
    package let directoryDescriptorLimit: Int
    package let openFiles: Int
    /// Nil: reads and writes of ordinary files stay in the kernel. Else why not, one clause.
    package let passthroughObstacle: String?
    package let writebackCache: Bool
    package let readers: Int
    /// The protocol's minor version (7.x) that kernel and libfuse agreed on, and each one's own.
    package let protocolMinor: Int
    package let kernelMinor: Int
    package let libraryMinor: Int
}

extension DriveMount {
    /// What the driver does now, and what it has done since it was mounted.
    package func report() -> DriverReport {
        let kinds = driver.statistics.summary()
            .map { DriverReport.Kind(name: $0.kind.name, atOnce: .init($0.atOnce), waited: .init($0.waited)) }
            .sorted { ($1.atOnce.count + $1.waited.count, $0.name) < ($0.atOnce.count + $0.waited.count, $1.name) }
        let (nodes, directories, openFiles) = driver.table.locked { state in
            (state.byInode.count, state.cachedDirectories.count, state.openFiles)
        }
        let kernel = session.raw.pointee
        return DriverReport(
            kinds: kinds, parked: driver.parking.count, interrupted: driver.statistics.interrupted, nodes: nodes,
            directoryDescriptors: directories, directoryDescriptorLimit: driver.table.descriptorLimit,
            openFiles: openFiles, passthroughObstacle: passthroughObstacle(kernel), writebackCache: kernel.writeback,
            readers: readers, protocolMinor: Int(min(kernel.kernel_minor, kernel.library_minor)),
            kernelMinor: Int(kernel.kernel_minor), libraryMinor: Int(kernel.library_minor))
    }

    private func passthroughObstacle(_ kernel: cfuse_session) -> String? {
        if !kernel.want_passthrough {
            return driver.runsAsRoot
                ? "turned off by the option nopassthrough" : "the daemon lacks CAP_SYS_ADMIN (it is not root's)"
        }
        if !kernel.offered_passthrough { return "this kernel does not have it (Linux 6.9 does)" }
        switch driver.passthroughRefusal.load(ordering: .relaxed) {
        case 0: return nil
        case EPERM: return "the daemon lacks CAP_SYS_ADMIN (it is not root's)"
        case ELOOP: return "the store lies on a file system that is stacked already (errno ELOOP)"
        case let number: return "the kernel refuses the store's file system (errno \(ErrnoName.of(number)))"
        }
    }
}
