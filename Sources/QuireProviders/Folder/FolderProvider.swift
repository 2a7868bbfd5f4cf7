import Glibc
package import Logging
package import QuireCore
import Synchronization

/// Keeps documents as plain files in a folder of a local or mounted disk.
///
/// Several daemons may share the folder: they compare and publish under `flock` on `.quire/lock`, and other programs
/// may edit in it at any time. `.quire/store.json` says which store it is; without it the folder counts as not there,
/// so that an unmounted disk is offline and never empty. Documents that lie there at first use are taken as they are.
///
/// Blocking work runs on up to eight threads of its own. Nothing in the folder is held open between calls.
package final class FolderProvider: DocumentProvider {
    private struct State {
        var capabilities = FolderProbe.unprobed
        var granularity = Fingerprint.racyWindowNanoseconds
        var clock = FolderClock()
        var versions = FolderVersion()
        var cutEndings: [UInt8] = []
        var identity: String?
        var marker: FileFacts?
    }

    /// Absolute path of the folder.
    package let root: String
    let hooks: FolderHooks
    let traffic: Traffic
    let logger: Logger
    private let pool = BlockingPool(label: "quire-folder", width: 8)
    /// Innermost lock: nothing else is taken, and nothing is read or written, while it is held.
    private let state = Lock(State())

    /// - Parameters:
    ///   - root: absolute path; need not be there yet, and is never created here.
    ///   - hooks: for tests.
    ///   - traffic: what content passes through.
    package init(
        root: String, hooks: FolderHooks = FolderHooks(), traffic: Traffic = Traffic(),
        logger: Logger = Logger(label: "quire-folder")
    ) {
        precondition(root.utf8.first == 0x2F, "the folder's path is absolute")
        self.root = root
        self.hooks = hooks
        self.traffic = traffic
        self.logger = logger
    }

    package var capabilities: ProviderCapabilities { state.withLock { $0.capabilities } }

    /// See `versionGranularity`, in nanoseconds.
    var granularity: Int64 { state.withLock { $0.granularity } }

    /// The clock that stamps the files there.
    var clock: FolderClock { state.withLock { $0.clock } }

    /// Looks at that clock anew.
    func setClock(_ session: borrowing FolderSession) {
        guard let found = FolderClock(session) else { return }
        state.withLock { $0.clock = found }
    }

    /// What versions are made of there.
    var versions: FolderVersion { state.withLock { $0.versions } }

    /// Refuses paths that cannot be at the provider; the root, too, which cannot be changed.
    func validate(_ path: RelativePath) throws(ProviderError) {
        try FolderLayout.validate(path)
        try validateEndings(path)
    }

    /// As `validate`; the root may be read.
    func validateReading(_ path: RelativePath) throws(ProviderError) {
        try FolderLayout.validateReading(path)
        try validateEndings(path)
    }

    /// What is there under such a name is another document.
    private func validateEndings(_ path: RelativePath) throws(ProviderError) {
        let endings = state.withLock { $0.cutEndings }
        guard !endings.isEmpty else { return }
        for name in path.components {
            guard let last = name.bytes.last, endings.contains(last) else { continue }
            throw ProviderError(
                .invalidName,
                "\(path) stays on this device: the provider's disk takes '\(name)' for the name without the end; rename it"
            )
        }
    }

    package func connect(expected: String?) async throws(ProviderError) -> String {
        try await pool.run { (_) throws(ProviderError) in try self.connectNow(expected: expected) }
    }

    package func freeSpace() async throws(ProviderError) -> ByteCount? {
        try await perform { (session, _) throws(ProviderError) in
            let descriptor = session.root.descriptor
            return try ErrnoTranslation.about(.root, "measured") { () throws(SystemFailure) in
                var limits = statvfs()
                try SystemCalls.check("fstatvfs") { fstatvfs(descriptor, &limits) }
                let (bytes, overflow) = UInt64(limits.f_bavail).multipliedReportingOverflow(by: UInt64(limits.f_frsize))
                return ByteCount(overflow ? .max : Int64(clamping: bytes))
            }
        }
    }

    /// Runs `body` on a thread that may block, with the folder opened and found to be the one it was.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (borrowing FolderSession, Cancellation) throws(ProviderError) -> Value
    ) async throws(ProviderError) -> Value {
        try await pool.run { (cancellation) throws(ProviderError) in
            let session = try FolderSession(root: self.root)
            try self.confirm(session)
            return try body(session, cancellation)
        }
    }

    private func connectNow(expected: String?) throws(ProviderError) -> String {
        let rootFile = try FolderSession.openRoot(root)
        if expected == nil {
            let control = try FolderSession.subdirectory(FolderLayout.control, of: rootFile)
            if try FolderIdentity.read(in: control, root: root) == nil {
                let temporary = try FolderSession.subdirectory(FolderLayout.temporary, of: control)
                _ = try FolderIdentity.create(in: control, temporary: temporary, root: root)
                let descriptor = rootFile.descriptor
                try ErrnoTranslation.about(.root, "written") { () throws(SystemFailure) in
                    try SystemCalls.sync(descriptor)
                }
            }
        }
        let session = try FolderSession(root: root)
        let found = try identity(session)
        if let expected, expected != found { throw another(found) }
        let probe = probed(session)
        // Another device's leftovers are as old as the clock says that has stamped them. What cannot be written to is not swept.
        if let clock = probe.clock {
            FolderSweep.run(session, now: clock.found, FolderVersion(filesystemOf: session.root.descriptor))
        }
        state.withLock { state in
            state.capabilities = probe.capabilities
            state.granularity = probe.granularity
            state.clock = probe.clock ?? FolderClock()
            state.versions = probe.versions
            state.cutEndings = probe.cutEndings
            state.identity = found
            state.marker = session.marker
        }
        return found
    }

    private func probed(_ session: borrowing FolderSession) -> FolderProbe {
        var probe = FolderProbe(session)
        hooks.afterProbe?(&probe)
        return probe
    }

    /// Checks that the opened folder is the one that `connect` found. Its mark is read again only when it looks
    /// different.
    private func confirm(_ session: borrowing FolderSession) throws(ProviderError) {
        let (known, marker) = state.withLock { ($0.identity, $0.marker) }
        guard let known else { throw ProviderError(.unavailable, "the provider's folder \(root) is not connected") }
        if let marker, marker.isSameContent(as: session.marker), marker.device == session.marker.device { return }
        let found = try identity(session)
        guard found == known else { throw another(found) }
        let seen = session.marker
        state.withLock { $0.marker = seen }
    }

    private func identity(_ session: borrowing FolderSession) throws(ProviderError) -> String {
        guard let found = try FolderIdentity.read(in: session.control, root: root) else {
            throw FolderSession.missing(root, SystemFailure(ENOENT, "open"))
        }
        return found.identity
    }

    private func another(_ found: String) -> ProviderError {
        ProviderError(
            .unavailable, "another store is at \(root) than the one this drive uses; mount the right disk there",
            cause: "found \(found)", isOtherStore: true)
    }
}
