import CFuse
import CLinux
import Glibc
import QuireCoordination
import QuireCore

/// How plain programs meet explicit claims and presenters: all of the mount shares one purpose, so programs never wait for
/// one another; apps' claims and the mount's do (design, "Coordination on the mount").
extension Driver {
    /// Whether any explicit claim or presenter is about. One atomic load.
    var mustAskCoordinator: Bool { services.coordinator.isActive }

    func accesses(reading node: Node) -> [Access] { table.path(of: node).map { [Access.reading($0)] } ?? [] }

    func accesses(writing node: Node, _ option: WritingOption = .inPlace) -> [Access] {
        table.path(of: node).map { [Access.writing($0, option)] } ?? []
    }

    func accesses(writing name: FileName, in directory: Node, _ option: WritingOption = .inPlace) -> [Access] {
        table.path(of: name, in: directory).map { [Access.writing($0, option)] } ?? []
    }

    /// A new file that is renamed over a document is a write of the document; see `isSafeSave`.
    func accesses(moving source: Entry, to target: Entry, isSave: Bool) -> [Access] {
        accesses(writing: source.name, in: source.directory, .moving)
            + accesses(writing: target.name, in: target.directory, isSave ? .inPlace : .replacing)
    }

    /// Whether a file lost its last name while leave was waited for: a presenter that was asked saved by putting another file
    /// in its place. ESTALE has the kernel look the name up again, and ask for the new file.
    func wasReplaced(_ node: Node, _ accesses: [Access]) -> Bool {
        !accesses.isEmpty && table.path(of: node) == nil
    }

    /// Performs an operation once no explicit claim stands against it and the presenters of the items were asked.
    ///
    /// Past the deadline a read goes on and a write gets EBUSY; an interrupted program gets EINTR. What the program's own
    /// process holds a claim for is done at once.
    /// - Parameter operation: gets the claim, which lasts until it is let go of; nil where there is none.
    func coordinated(
        _ reply: consuming Reply, _ accesses: [Access],
        _ operation: @escaping @Sendable (Driver, consuming Reply, HeldClaim?) -> Void
    ) {
        guard !accesses.isEmpty else { return operation(self, reply, nil) }
        let coordinator = services.coordinator
        // Nobody to ask, nothing in the way: the common case, decided here. What is wrong shows again below.
        if let claim = try? coordinator.tryAcquire(accesses, purpose: .mount, processID: reply.caller.pid) {
            return operation(self, reply, HeldClaim(claim, of: coordinator))
        }
        let process = ThreadOwner.process(of: reply.caller.pid)
        let wanted = coordinator.uncovered(accesses, process: process)
        guard !wanted.isEmpty else { return operation(self, reply, HeldClaim(nil, of: coordinator)) }
        let isCovered = wanted.count < accesses.count
        let held = ClaimSlot()
        parking.park(
            reply,
            until: { [services] () async throws(DriverError) in
                do throws(CoordinationError) {
                    var options = AcquireOptions(processID: process, deadline: services.claimDeadline)
                    options.questionTimeout = min(services.claimDeadline / 2, Self.questionTimeout)
                    let claim = try await services.coordinator.acquire(wanted, purpose: .mount, options)
                    held.set(HeldClaim(claim, of: services.coordinator))
                } catch {
                    if Task.isCancelled { throw DriverError(EINTR) }
                    if wanted.contains(where: \.isWriting) { throw DriverError(EBUSY) }
                }
            },
            then: { [self] reply in
                let claim = held.take()
                // What it does to the covered item belongs to the claim that covers it.
                operation(self, reply, isCovered ? HeldClaim(nil, of: services.coordinator) : claim)
                withExtendedLifetime(claim) {}
            })
    }

    /// How long a presenter may take while a program waits. Shorter than for apps: a shell stands still.
    private static let questionTimeout = Duration.seconds(2)

    /// Whether a rename is the second half of saving a document: a file that is temporary, by its name or by its age, takes
    /// the place of one that is there.
    func isSafeSave(_ source: Entry, _ target: Entry) -> Bool {
        guard let from = try? resolver.directory(source.directory), let to = try? resolver.directory(target.directory),
            let present = try? StoreCall.statusIfAny(in: to, target.name), present.st_mode & S_IFMT == S_IFREG,
            let moving = try? StoreCall.statusIfAny(in: from, source.name), moving.st_mode & S_IFMT == S_IFREG
        else { return false }
        if Self.ephemeralNames.contains(source.name) { return true }
        let raw = source.name.withCString { openat(from.raw, $0, O_PATH | O_NOFOLLOW | O_CLOEXEC) }
        guard raw >= 0 else { return false }
        let born = quire_birth_time(Descriptor(owning: raw).raw)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return born > 0 && Int64(now.tv_sec) - born / 1_000_000_000 < Self.youth
    }

    /// Whether an exchange saves a document: a file or a package that was built under a temporary name takes the place of one
    /// that is there, which is under the temporary name then.
    func isSafeExchange(_ source: Entry, _ target: Entry) -> Bool {
        guard Self.ephemeralNames.contains(source.name) != Self.ephemeralNames.contains(target.name),
            let from = try? resolver.directory(source.directory), let to = try? resolver.directory(target.directory),
            let one = try? StoreCall.statusIfAny(in: from, source.name),
            let other = try? StoreCall.statusIfAny(in: to, target.name)
        else { return false }
        let kind = one.st_mode & S_IFMT
        return kind == other.st_mode & S_IFMT && (kind == S_IFREG || kind == S_IFDIR)
    }

    private static let ephemeralNames = EphemeralNames()
    /// Seconds that a file counts as new: as long as a freed name keeps its identity.
    private static let youth: Int64 = 15
}

/// Telling presenters what programs did. Each is one atomic load while there are none.
extension Driver {
    /// A file's content or attributes changed.
    /// - Parameters:
    ///   - claim: by which leave; what is done under an app's own claim is told when that ends.
    ///   - thread: whose doing it was; presenters of its process are not told.
    func tellChange(_ node: Node, _ claim: HeldClaim?, _ thread: pid_t) {
        guard services.coordinator.hasPresenters else { return }
        tell(table.path(of: node), claim, thread) { $0.noteChange($1, by: $2) }
    }

    func tellAppearance(_ name: FileName, in directory: Node, _ claim: HeldClaim?, _ thread: pid_t) {
        guard services.coordinator.hasPresenters else { return }
        tell(table.path(of: name, in: directory), claim, thread) { $0.noteAppearance($1, by: $2) }
    }

    func tellDisappearance(_ name: FileName, in directory: Node, _ claim: HeldClaim?, _ thread: pid_t) {
        guard services.coordinator.hasPresenters else { return }
        tell(table.path(of: name, in: directory), claim, thread) { $0.noteDisappearance($1, by: $2) }
    }

    private func tell(
        _ path: RelativePath?, _ claim: HeldClaim?, _ thread: pid_t, _ note: (Coordinator, RelativePath, pid_t) -> Void
    ) {
        guard claim?.isCovered != true, let path, services.coordinator.concernsPresenters(path) else { return }
        note(services.coordinator, path, ThreadOwner.process(of: thread))
    }

    /// A rename was done: claims and presenters follow.
    func tellMove(_ source: Entry, _ target: Entry, exchanges: Bool, isSave: Bool, _ thread: pid_t) {
        guard mustAskCoordinator || services.coordinator.hasClaims,
            let old = table.path(of: source.name, in: source.directory),
            let new = table.path(of: target.name, in: target.directory)
        else { return }
        let coordinator = services.coordinator
        let process = ThreadOwner.process(of: thread)
        guard isSave else {
            return exchanges
                ? coordinator.noteExchange(old, new) : coordinator.noteMove(from: old, to: new, by: process)
        }
        // Of an exchange either name may be the document's.
        let isReversed = exchanges && Self.ephemeralNames.contains(target.name)
        coordinator.noteSave(of: isReversed ? old : new, from: isReversed ? new : old, by: process)
    }
}
