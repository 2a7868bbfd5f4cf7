/// What `driverStatus` answers; `quire status --driver --json` prints exactly these members.
package struct DriverStatus: Codable, Sendable, Hashable {
    /// Times of requests, in microseconds; a percentile may be an eighth too long.
    package struct Times: Codable, Sendable, Hashable {
        package var count: UInt64
        package var p50: Double
        package var p99: Double
        package var longest: Double
        package var total: Double

        package init(count: UInt64, p50: Double, p99: Double, longest: Double, total: Double) {
            self.count = count
            self.p50 = p50
            self.p99 = p99
            self.longest = longest
            self.total = total
        }
    }

    /// Requests of one kind since the mount.
    package struct Requests: Codable, Sendable, Hashable {
        /// The kernel's name: `LOOKUP`, `OPEN` and so on.
        package var kind: String
        /// Answered by the thread that read them.
        package var atOnce: Times
        /// Answered later: they waited for a download, a claim or the disk.
        package var waited: Times

        package init(kind: String, atOnce: Times, waited: Times) {
            self.kind = kind
            self.atOnce = atOnce
            self.waited = waited
        }
    }

    /// How many there are, and how many there may be.
    package struct Usage: Codable, Sendable, Hashable {
        package var used: Int
        package var limit: Int

        package init(used: Int, limit: Int) {
            self.used = used
            self.limit = limit
        }
    }

    package var mountpoint: String
    /// Most frequent first.
    package var requests: [Requests]
    /// Requests that wait now.
    package var parked: Int
    /// Programs that were interrupted by a signal while their request waited.
    package var interrupted: Int
    /// Files and directories that the kernel knows.
    package var nodes: Int
    /// Open descriptors of directories, to reach what is in them.
    package var directoryDescriptors: Usage
    package var openFiles: Int
    /// Of the whole daemon.
    package var descriptors: Usage
    /// Changes that the index has not yet taken.
    package var queuedEvents: Int
    package var passthrough: Bool
    /// Why not; null with passthrough.
    package var passthroughObstacle: String?
    package var writebackCache: Bool
    package var readers: Int
    /// `7.38`: what kernel and libfuse agreed on.
    package var protocolVersion: String
    package var kernelProtocolVersion: String

    package init(
        mountpoint: String, requests: [Requests], parked: Int, interrupted: Int, nodes: Int,
        directoryDescriptors: Usage, openFiles: Int, descriptors: Usage, queuedEvents: Int,
        passthroughObstacle: String?, writebackCache: Bool, readers: Int, protocolVersion: String,
        kernelProtocolVersion: String
    ) {
        self.mountpoint = mountpoint
        self.requests = requests
        self.parked = parked
        self.interrupted = interrupted
        self.nodes = nodes
        self.directoryDescriptors = directoryDescriptors
        self.openFiles = openFiles
        self.descriptors = descriptors
        self.queuedEvents = queuedEvents
        self.passthrough = passthroughObstacle == nil
        self.passthroughObstacle = passthroughObstacle
        self.writebackCache = writebackCache
        self.readers = readers
        self.protocolVersion = protocolVersion
        self.kernelProtocolVersion = kernelProtocolVersion
    }
}
