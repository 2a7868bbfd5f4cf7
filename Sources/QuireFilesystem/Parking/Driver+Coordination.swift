import CFuse
import CLinux
import Glibc
import QuireCoordination
import QuireCore

/// How plain programs meet explicit claims and presenters: all of the mount shares one purpose, so programs never wait for
/// one another; apps' claims and the mount's do (design, "Coordination on the mount").
extension Driver {
    /// Whether any explicit claim or presenter is about, or a thread is expected back that waited for one. Two atomic loads.
    var mustAskCoordinator: Bool { services.coordinator.isActive || !retries.isEmpty }

    /// Whether somebody came between a program that goes on without a claim. Inside the gate.
    func isStale(_ pass: Pass?) -> Bool { pass.map { !services.coordinator.isValid($0) } ?? false }

    /// Whether nobody can have to do with what a program does by its pass: nobody came since. One relaxed atomic load.
    func concernsNobody(_ claim: HeldClaim?) -> Bool { claim?.pass.map { services.coordinator.isValid($0) } ?? false }

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

    /// The restart of a call that reaches a file by its path.
    func restart(of node: Node) -> Restart {
        Restart(directories: table.locked { _ in node.names.map(\.directory) }, last: .present)
    }

    /// Whether a file lost its last name while leave was waited for: a presenter that was asked saved by putting another file
    /// in its place. ESTALE has the kernel look the name up again, and ask for the new file; see `StaleAnswers`.
    func wasReplaced(_ node: Node, _ accesses: [Access]) -> Bool {
        !accesses.isEmpty && table.path(of: node) == nil
    }

    /// Performs an operation once no explicit claim stands against it and the presenters of the items were asked.
    ///
    /// Past the deadline a read goes on and a write gets EBUSY; an interrupted program gets EINTR. What the program's own
    /// process holds a claim for is done at once.
    /// - Parameters:
    ///   - passes: a `Pass` is enough. The operation looks inside the gate whether that `isStale`, and begins anew without
    ///     `passes` where it is.
    ///   - restart: the kernel keeps locks meanwhile and begins anew after ESTALE, see `PatientRetries`.
    ///   - operation: gets the claim, which lasts until it is let go of; nil where there is none.
    func coordinated(
        _ reply: consuming Reply, _ accesses: [Access], passes: Bool = false, restart: Restart? = nil,
        _ operation: @escaping @Sendable (Driver, consuming Reply, HeldClaim?) -> Void
    ) {
        guard !accesses.isEmpty else { return operation(self, reply, nil) }
        let coordinator = services.coordinator
        let thread = reply.caller.pid
        let waited = retries.take(thread, restart == nil ? [] : accesses)
        switch waited {
        case .granted(let claim, let isCovered): return perform(operation, reply, claim, isCovered)
        case .failed(let error):
            staleAnswers.settle(thread)
            return reply.error(error.errno)
        case .unknown, nil: break
        }
        if passes, let pass = coordinator.pass(for: accesses) {
            return operation(self, reply, HeldClaim(pass, of: coordinator))
        }
        // Nobody to ask, nothing in the way: the common case, decided here. What is wrong shows again below.
        if let claim = try? coordinator.tryAcquire(accesses, purpose: .mount, processID: thread) {
            return operation(self, reply, HeldClaim(claim, of: coordinator))
        }
        let process = ThreadOwner.process(of: thread)
        let wanted = coordinator.uncovered(accesses, process: process)
        guard !wanted.isEmpty else { return operation(self, reply, HeldClaim(nil, of: coordinator)) }
        let wish = PatientRetries.Wish(accesses: accesses, wanted: wanted, process: process)
        if let restart, waited == nil, staleAnswers.mayAnswer(thread, restart.last) {
            retries.expect(thread, wish, restart.last)
            // Walking its path anew, the kernel asks for the attributes of these before it locks them.
            for directory in restart.directories { notifier.attributesChanged(table.identifier(directory)) }
            return reply.error(ESTALE)
        }
        let held = ClaimSlot()
        parking.park(
            reply,
            until: { [self] () async throws(DriverError) in
                if let claim = try await claim(for: wish) { held.set(claim) }
            },
            then: { [self] reply in
                perform(operation, reply, held.take(), wish.isCovered)
            })
    }

    /// Waits for what a program wants. Nil where a read goes on without, past the deadline.
    private func claim(for wish: PatientRetries.Wish) async throws(DriverError) -> HeldClaim? {
        do throws(CoordinationError) {
            var options = AcquireOptions(processID: wish.process, deadline: services.claimDeadline)
            options.questionTimeout = min(services.claimDeadline / 2, Self.questionTimeout)
            let claim = try await services.coordinator.acquire(wish.wanted, purpose: .mount, options)
            return HeldClaim(claim, of: services.coordinator)
        } catch {
            if Task.isCancelled { throw DriverError(EINTR) }
            if wish.wanted.contains(where: \.isWriting) { throw DriverError(EBUSY) }
            return nil
        }
    }

    private func perform(
        _ operation: (Driver, consuming Reply, HeldClaim?) -> Void, _ reply: consuming Reply, _ claim: HeldClaim?,
        _ isCovered: Bool
    ) {
        // What it does to a covered item belongs to the claim that covers it.
        operation(self, reply, isCovered ? HeldClaim(nil, of: services.coordinator) : claim)
        withExtendedLifetime(claim) {}
    }

    /// Has a thread wait whose request comes again, where it asks for its directory or a name first.
    func waitForRetry(
        _ reply: consuming Reply, _ operation: @escaping @Sendable (Driver, consuming Reply) -> Void
    ) {
        let thread = reply.caller.pid
        guard let wish = retries.begin(thread) else { return operation(self, reply) }
        parking.park(
            reply,
            until: { [self] () async throws(DriverError) in
                do throws(DriverError) {
                    retries.finish(thread, .granted(try await claim(for: wish), isCovered: wish.isCovered))
                } catch {
                    retries.finish(thread, .failed(error))
                }
            },
            then: { [self] reply in operation(self, reply) })
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

    static let ephemeralNames = EphemeralNames()
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
        let coordinator = services.coordinator
        guard coordinator.hasPresenters, claim?.isCovered != true, !concernsNobody(claim),
            let path = table.path(of: node),
            coordinator.concernsPresenters(path)
        else { return }
        let doer = Doer.process(ThreadOwner.process(of: thread))
        let untold = coordinator.enter { $0.changed(path, except: doer) }
        // Not before its name is told of.
        notifier.inOrder {
            coordinator.tell(untold)
            withExtendedLifetime(claim) {}
        }
    }
}
