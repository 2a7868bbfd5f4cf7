import GRDB
import Logging
import QuireCore

/// A damaged file is replaced while the index is open.
///
/// ```
/// a write says SQLITE_CORRUPT, or SQLITE_IOERR_READ ─┐
/// a read says so ─▶ .check ─────────────────────────┴▶ a new connection reads the whole file: damaged, or not read ─▶
///     connections closed, file set aside, new file opened, whole rescan begun, batch done again
/// ```
/// The new file knows nothing of providers. What an answer under way says of them would be taken for a document that was
/// deleted here: until whoever tells such things has heard of the rebuild (`takeBases`), they are left out. What is left out
/// is found by comparing with the provider, as after a start.
extension IngestThread {
    /// How often the file was replaced, and whether it may be again.
    struct Rebuilds {
        /// Since the index was opened.
        private(set) var count = 0
        /// Whether events say what providers have.
        var takesBases = true
        /// Where the damaged file lies that has none in its place yet.
        var setAside: String?
        /// Reading the file anew has shown that it is damaged.
        var isSure = false
        /// Why no other file could be begun.
        private(set) var obstacle: IndexError?
        private var times: [UInt64] = []
        private var lastCheck: UInt64?

        private static let hour: UInt64 = 3_600_000_000_000
        /// Within an hour; more would fill the disk with damaged files.
        private static let most = 3
        /// A file that turned out whole is read again after this: something else was damaged.
        private static let checkPause: UInt64 = 60_000_000_000

        func mayBegin(_ now: UInt64) -> Bool { times.count { now - $0 < Self.hour } < Self.most }

        mutating func mayCheck(_ now: UInt64) -> Bool {
            if let lastCheck, now - lastCheck < Self.checkPause { return false }
            lastCheck = now
            return true
        }

        mutating func began(_ now: UInt64) {
            count += 1
            times.append(now)
            takesBases = false
            setAside = nil
            lastCheck = nil
            isSure = false
            obstacle = nil
        }

        /// No other file could be begun. Where the disk does not read that one either, it is not tried without end.
        ///
        /// - Returns: whether that is news.
        mutating func failed(_ error: IndexError, _ now: UInt64) -> Bool {
            defer { obstacle = error }
            if error.isOfReading { times.append(now) }
            return obstacle?.message != error.message
        }

        /// What those who wait are told of the damage.
        func told(_ failure: IndexError) -> IndexError {
            guard mayBegin(IngestThread.monotonic()) else { return .damagedAgain(cause: failure.cause) }
            return obstacle.map { .notReplaced(because: $0) } ?? failure
        }
    }

    /// What may be applied of the work.
    func acceptable(_ work: IngestQueue.Entry.Work) -> IngestQueue.Entry.Work? {
        rebuilds.takesBases ? work : work.withoutBases
    }

    /// Somebody met damage: replaces the file, unless that is whole and the damage elsewhere.
    func checkFile() {
        guard rebuilds.mayCheck(Self.monotonic()), let isDamaged = readAnew() else { return }
        if isDamaged { _ = rebuild(because: .damaged(cause: nil)) } else { progress.foundWhole() }
    }

    /// What a failure is once the file was read anew: damage, or something that has passed. What is said a second time within
    /// a minute counts as it is.
    func confirmed(_ failure: IndexError) -> IndexError {
        guard failure.isOfReading || failure.code == .corrupt else { return failure }
        if rebuilds.setAside == nil, !rebuilds.isSure, rebuilds.mayCheck(Self.monotonic()) {
            switch readAnew() {
            case true?: rebuilds.isSure = true
            case false?: return .passed(cause: failure.cause)
            case nil: break
            }
        }
        return rebuilds.isSure ? .damaged(cause: failure.cause) : failure
    }

    /// Reads the whole file and tells whether it is damaged; nil where that cannot be told.
    private func readAnew() -> Bool? {
        do throws(IndexError) {
            if try file.isDamaged() { return true }
            logger.info("index: the file is whole; something else that queries read is damaged, or it has passed")
            return false
        } catch {
            logger.info("index: whether the file is damaged cannot be told", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Sets the damaged file aside and begins a new one, which a whole rescan fills.
    ///
    /// - Returns: false when that cannot be done now.
    func rebuild(because failure: IndexError) -> Bool {
        file.marker.markDamaged()
        guard rebuilds.mayBegin(Self.monotonic()) else { return false }
        do {
            let (next, aside) = try exchangeFile()
            logger.warning(
                "the index was damaged: it was set aside, and a new one is built from the drive's documents",
                metadata: ["aside": "\(aside)", "error": "\(failure)"])
            begin(next, setAside: aside)
            return true
        } catch {
            let obstacle = IndexError(error, "beginning a new file")
            if rebuilds.failed(obstacle, Self.monotonic()) {
                logger.error("a new index cannot be begun; it is tried again", metadata: ["error": "\(obstacle)"])
            }
            return false
        }
    }

    private func exchangeFile() throws -> (IngestState, setAside: String) {
        guard let root = lister.rootStatus() else {
            throw IndexError(.storeMissing, "the drive's directory \(lister.root) is not there")
        }
        try file.ensureReplaceable()
        var next = state
        try database.exchange { former in
            try former?.close()
            // What an attempt that failed has left is of no use.
            if rebuilds.setAside == nil { rebuilds.setAside = try file.setAside() } else { file.remove() }
            let (pool, state) = try file.connect(checks: false) { [setup = state.setup] db in
                try IngestState(db, setup, root, lister, now: file.clock())
            }
            try listen(pool)
            next = state
            return pool
        }
        return (next, rebuilds.setAside ?? file.path)
    }

    private func begin(_ next: IngestState, setAside: String) {
        state = next
        (rescan, suspects, isRescanDue, names) = (nil, [], false, .due)
        unread = [:]
        rebuilds.began(Self.monotonic())
        file.marker.markOpen()
        progress.rebuildBegan(IndexRebuild(number: rebuilds.count, setAside: setAside, since: file.clock()))
        startWholeRescan(unasked: false)
        typing.wake()
    }
}

extension IngestThread {
    /// What became of a transaction.
    enum Outcome {
        case done
        /// It would fail again.
        case refused
        /// The file was damaged: there is a new one, in which it was not done.
        case rebuilt
    }
}
