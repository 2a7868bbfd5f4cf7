import CFuse
import Glibc
import Logging
package import QuireCoordination
package import QuireCore
import QuireStore
import Synchronization

/// The drive as the kernel sees it: one method per request, each answering its `Reply` exactly once.
///
/// Requests arrive on the reader threads, which never wait: what must wait is parked. Every change is recorded in the
/// event sink before its answer is sent, inside the commit gate, so that the index sees the order in which the store
/// changed.
///
/// Lock order: commit gate, then node table, then the event sink's queue or the watched mappings.
final class Driver: Sendable {
    let table: NodeTable
    let resolver: NodeResolver
    let gate = CommitGate()
    let statistics = RequestStatistics()
    let parking: ParkingLot
    /// Where requests are told of one by one; nil: nowhere.
    let trace: RequestTrace?
    let notifier: KernelNotifier
    /// By which remote changes are made where programs may watch.
    let voice: MountVoice?
    let load = RequestLoad()
    let quietHandles = QuietHandles()
    let seen = SeenContents()
    let retries = PatientRetries()
    let staleAnswers = StaleAnswers()
    let tree: DriveTree
    let services: DriveServices
    let logger: Logger
    /// Whether files created for another user must be given to them: only root can.
    let runsAsRoot = geteuid() == 0
    /// Whether opens may ask for kernel passthrough; turned off for good when the kernel refuses.
    let passthroughAllowed = Atomic<Bool>(false)
    /// Whether it was asked for that the kernel collects writes.
    let collectsWrites: Bool
    /// Whether the kernel collects writes and sends them later, at close(2) at the latest. It then keeps sizes and times of
    /// the files it knows itself, and believes nobody else: see `renew`.
    let writesBack = Atomic<Bool>(false)
    let space = StoreSpace()
    /// Why the kernel refused it; 0 where it did not.
    let passthroughRefusal = Atomic<CInt>(0)
    /// Whether it was said that not all mappings are watched.
    let tooManyMappings = Atomic<Bool>(false)
    /// Names in the drive's root that are containers' own directories.
    let containerRoots: Lock<Set<FileName>>
    /// The libfuse session, set once before the first request, cleared after the last.
    let session = Lock<SessionPointer?>(nil)

    init(
        tree: DriveTree, table: NodeTable, services: DriveServices, containerRoots: Set<FileName>, logger: Logger,
        collectsWrites: Bool = true, traces: Bool = false, voice: MountVoice? = nil
    ) {
        self.collectsWrites = collectsWrites
        self.voice = voice
        parking = ParkingLot(statistics: statistics)
        notifier = KernelNotifier(parking)
        self.trace = traces ? RequestTrace(table: table, logger: logger) : nil
        self.tree = tree
        self.table = table
        self.resolver = NodeResolver(table: table)
        self.services = services
        self.containerRoots = Lock(containerRoots)
        self.logger = logger
    }

    /// The driver that a request belongs to.
    static func of(_ request: fuse_req_t) -> Driver {
        guard let owner = cfuse_request_owner(request) else { preconditionFailure("a session has an owner") }
        return Unmanaged<Driver>.fromOpaque(owner).takeUnretainedValue()
    }

    /// Records an event. Call inside the commit gate, before the answer.
    func record(_ event: StoreEvent) { services.sink.record(event) }

    /// Whether (`directory`, `name`) is the root of a container, which programs cannot rename or remove.
    func isContainerRoot(_ directory: Node, _ name: FileName) -> Bool {
        directory === table.root && containerRoots.withLock { $0.contains(name) }
    }
}

/// What the driver uses of the rest of the daemon.
package struct DriveServices: Sendable {
    package var sink: any StoreEventSink
    package var content: any ContentSource
    package var attributes: any ItemAttributeSource
    package var coordinator: Coordinator
    package var room: WriteRoom
    /// How long a request waits for claims of apps.
    package var claimDeadline: Duration
    /// For the names of conflict copies.
    package var deviceName: String

    package init(
        sink: any StoreEventSink, content: any ContentSource, attributes: any ItemAttributeSource,
        coordinator: Coordinator,
        claimDeadline: Duration = .seconds(10), deviceName: String = "this device", room: WriteRoom = WriteRoom()
    ) {
        self.sink = sink
        self.content = content
        self.attributes = attributes
        self.coordinator = coordinator
        self.claimDeadline = claimDeadline
        self.deviceName = deviceName
        self.room = room
    }
}

/// A libfuse session; its functions may be called from any thread.
struct SessionPointer: @unchecked Sendable {
    // libfuse's own locks guard what is behind it.
    let raw: UnsafeMutablePointer<cfuse_session>
}
