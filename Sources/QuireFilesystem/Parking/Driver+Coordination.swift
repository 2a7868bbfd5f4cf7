import Glibc
import QuireCoordination
import QuireCore

/// A claim that ends when nobody refers to it any more.
final class HeldClaim: Sendable {
    private let coordinator: Coordinator
    private let claim: Claim

    init(_ claim: Claim, of coordinator: Coordinator) {
        self.claim = claim
        self.coordinator = coordinator
    }

    deinit { coordinator.release(claim) }
}

/// How plain programs meet explicit claims: all of the mount shares one purpose, so programs never wait for one another;
/// apps' claims and the mount's do (design, "Coordination on the mount").
extension Driver {
    /// Whether any explicit claim or presenter is about. One atomic load.
    var mustAskCoordinator: Bool { services.coordinator.isActive }

    func accesses(reading node: Node) -> [Access] { table.path(of: node).map { [Access.reading($0)] } ?? [] }

    func accesses(writing node: Node) -> [Access] { table.path(of: node).map { [Access.writing($0)] } ?? [] }

    func accesses(writing name: FileName, in directory: Node, _ option: WritingOption = .inPlace) -> [Access] {
        table.path(of: name, in: directory).map { [Access.writing($0, option)] } ?? []
    }

    func accesses(moving source: Entry, to target: Entry) -> [Access] {
        accesses(writing: source.name, in: source.directory, .moving)
            + accesses(writing: target.name, in: target.directory, .replacing)
    }

    /// Performs an operation once no explicit claim stands against it.
    ///
    /// Past the deadline a read goes on and a write gets EBUSY; an interrupted program gets EINTR.
    func coordinated(
        _ reply: consuming Reply, _ accesses: [Access],
        _ operation: @escaping @Sendable (Driver, consuming Reply, HeldClaim?) -> Void
    ) {
        guard !accesses.isEmpty else { return operation(self, reply, nil) }
        let process = reply.caller.pid
        let held = ClaimSlot()
        parking.park(
            reply,
            until: { [services] () async throws(DriverError) in
                do throws(CoordinationError) {
                    let claim = try await services.coordinator.acquire(
                        accesses, purpose: Coordinator.mountPurpose, processID: process,
                        deadline: services.claimDeadline)
                    held.set(HeldClaim(claim, of: services.coordinator))
                } catch {
                    if Task.isCancelled { throw DriverError(EINTR) }
                    if accesses.contains(where: \.isWriting) { throw DriverError(EBUSY) }
                }
            },
            then: { [self] reply in operation(self, reply, held.take()) })
    }
}

extension Access {
    fileprivate var isWriting: Bool { if case .writing = intent { true } else { false } }
}
