import Foundation
import QuireCore
import QuireTransport
import Synchronization

/// Access to items of a drive together with other apps and with every program on the mount (NSFileCoordinator).
///
/// Readers share an item, a writer has it alone; presenters are asked before and told afterwards. Each form exists for
/// asynchronous code, where the accessor runs in the caller's isolation, and for synchronous code, where it runs on the
/// calling thread, which waits. One coordinator may be used from any thread; its accesses do not wait for each other.
///
/// Errors: `CocoaError` with `.userCancelled` for `cancel()` and a cancelled task and with `.fileNoSuchFile` where the item
/// is gone when it would be accessed; `QuireError`, which names the item and the remedy, for everything else; and what the
/// accessor throws.
public final class FileCoordinator: Sendable {
    private struct State {
        var purpose: String
        /// Whether the purpose is settled: it was set, or used.
        var isSettled = false
        var waiting: [ObjectIdentifier: RequestHandle] = [:]
        var held: [ObjectIdentifier: HeldAccess] = [:]
    }

    /// Hears how much of what is brought here has arrived, and of how much, in bytes; on any thread, in order.
    typealias ProgressHandler = @Sendable (_ completed: Int64, _ total: Int64) -> Void

    let progress: ProgressHandler?
    /// The presenter that the coordinator was made with: it is neither asked nor told of the coordinator's accesses.
    let presenter: (any FilePresenter)?
    // Taken alone.
    private let state: Lock<State>

    /// - Parameter filePresenter: on whose behalf it coordinates; retained.
    public convenience init(filePresenter: (any FilePresenter)? = nil) {
        self.init(filePresenter: filePresenter, progress: nil)
    }

    init(filePresenter: (any FilePresenter)?, progress: ProgressHandler?) {
        presenter = filePresenter
        self.progress = progress
        let purpose = filePresenter.map { PresenterEntry.purpose(of: $0) } ?? "quire.coordinator.\(UUID().uuidString)"
        state = Lock(State(purpose: purpose))
    }

    // MARK: Purpose

    /// Accesses with equal identifiers never wait for each other, across processes too. By default the coordinator's own, or
    /// that of its presenter.
    public var purposeIdentifier: String { state.withLock { $0.purpose } }

    /// Sets the purpose; once, before the coordinator is used.
    ///
    /// - Throws: `.usage` for an empty identifier, a second one, one after the first access, and with a presenter.
    public func setPurposeIdentifier(_ identifier: String) throws(QuireError) {
        guard presenter == nil else {
            throw QuireError(
                .usage, "the coordinator was made with a presenter and has its purpose",
                remedy: "Make one without a presenter")
        }
        guard !identifier.isEmpty else { throw QuireError(.usage, "a purpose identifier is not empty") }
        let isSet = state.withLock { state in
            guard !state.isSettled else { return false }
            state.purpose = identifier
            state.isSettled = true
            return true
        }
        guard isSet else {
            throw QuireError(
                .usage, "the coordinator's purpose is set or in use already",
                remedy: "Set it once, before anything else")
        }
    }

    // MARK: Presenters

    /// Registers a presenter: it is asked and told of accesses from now on, until `removeFilePresenter(_:)`, which must
    /// follow: it is retained. To miss nothing, register inside a coordinated read of the item.
    ///
    /// - Throws: where its URL is on no drive, or the drive does not run; it is not registered then.
    public static func addFilePresenter(_ filePresenter: any FilePresenter) async throws(QuireError) {
        try await PresenterRegistry.shared.add(filePresenter)
    }

    /// The synchronous form.
    @available(*, noasync) @_disfavoredOverload
    public static func addFilePresenter(_ filePresenter: any FilePresenter) throws(QuireError) {
        try CallerExecutor.run { () throws(QuireError) in try await PresenterRegistry.shared.add(filePresenter) }
    }

    /// Ends a registration, at once: callbacks that wait in the presenter's queue do not run.
    public static func removeFilePresenter(_ filePresenter: any FilePresenter) {
        PresenterRegistry.shared.remove(filePresenter)
    }

    /// The presenters of this process.
    public static var filePresenters: [any FilePresenter] { PresenterRegistry.shared.presenters }

    // MARK: Ending

    /// Ends the accesses of this coordinator that are waited for, with `CocoaError(.userCancelled)`. Any thread; returns at
    /// once. An accessor that runs goes on.
    public func cancel() {
        let waiting = state.withLock { Array($0.waiting.values) }
        for handle in waiting { handle.takeBack() }
    }

    // MARK: For the accesses

    /// The purpose, from now on unchanged.
    func settledPurpose() -> String {
        state.withLock { state in
            state.isSettled = true
            return state.purpose
        }
    }

    func add(_ handle: RequestHandle) { state.withLock { $0.waiting[ObjectIdentifier(handle)] = handle } }

    func remove(_ handle: RequestHandle) { state.withLock { $0.waiting[ObjectIdentifier(handle)] = nil } }

    func add(_ access: HeldAccess) { state.withLock { $0.held[ObjectIdentifier(access)] = access } }

    func remove(_ access: HeldAccess) { state.withLock { $0.held[ObjectIdentifier(access)] = nil } }

    /// What the coordinator has access to now.
    var held: [HeldAccess] { state.withLock { Array($0.held.values) } }
}
