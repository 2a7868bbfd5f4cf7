import QuireCoordination
import QuireCore
import Synchronization

/// Claims on behalf of clients of the control socket: held until released, or until the client goes.
final class CoordinationService: Sendable {
    private struct Held {
        let claim: Claim
        /// What the session's `forget` takes.
        var number: UInt64 = 0
    }

    private let coordinator: Coordinator
    // Taken alone.
    private let held = Mutex<[ClaimID: Held]>([:])
    private let purposes = Mutex<UInt64>(0)

    init(coordinator: Coordinator) { self.coordinator = coordinator }

    func addMethods(to methods: inout MethodTable) {
        methods.on(CoordinationMethods.Dump.self) { [self] _, _ in .init(claims: coordinator.snapshot().map(Self.shown))
        }
        methods.on(CoordinationMethods.Acquire.self) { [self] parameters, context in
            try await acquire(parameters, for: context.client)
        }
        methods.on(CoordinationMethods.Release.self) { [self] parameters, context in
            try release(ClaimID(parameters.claim), by: context.client)
            return WireNothing()
        }
    }

    private func acquire(
        _ parameters: CoordinationMethods.Acquire.Parameters, for client: ClientSession
    ) async throws(QuireError) -> CoordinationMethods.Acquire.Result {
        let access = try Self.access(parameters.access, parameters.path.path)
        let purpose = Purpose(parameters.purpose ?? ownPurpose())
        let claim: Claim
        do {
            claim = try await coordinator.acquire(
                [access], purpose: purpose, processID: client.pid,
                deadline: parameters.timeoutSeconds.map { .milliseconds(Int64(min(max($0, 0), 1e9) * 1000)) })
        } catch {
            throw Self.refusal(error, parameters.path.path)
        }
        // A caller that took its request back, or has gone, would never release it.
        guard !Task.isCancelled else {
            coordinator.release(claim)
            throw QuireError(.temporary, "cancelled")
        }
        held.withLock { $0[claim.id] = Held(claim: claim) }
        let number = client.whenClosed { [self] in end(claim.id) }
        held.withLock { $0[claim.id]?.number = number }
        return .init(claim: claim.id.rawValue)
    }

    private func release(_ id: ClaimID, by client: ClientSession) throws(QuireError) {
        guard let number = held.withLock({ $0[id]?.number }) else {
            throw QuireError(.notFound, "no claim \(id) is held")
        }
        client.forget(number)
        end(id)
    }

    private func end(_ id: ClaimID) {
        if let held = held.withLock({ $0.removeValue(forKey: id) }) { coordinator.release(held.claim) }
    }

    private func ownPurpose() -> String {
        purposes.withLock { count in
            count += 1
            return "quire.client.\(count)"
        }
    }

    private static func access(_ text: String, _ path: RelativePath) throws(QuireError) -> Access {
        switch text {
        case "read": return .reading(path)
        case "write": return .writing(path)
        default:
            let option = WritingOption.allCases.first { text == "write \(name($0))" }
            guard let option else {
                throw QuireError(
                    .usage, "\"\(text)\" is not an access",
                    remedy: "Use read, write, or write with forDeleting, forMoving, forMerging, forReplacing")
            }
            return .writing(path, option)
        }
    }

    private static func name(_ option: WritingOption) -> String {
        switch option {
        case .inPlace: "inPlace"
        case .deleting: "forDeleting"
        case .moving: "forMoving"
        case .merging: "forMerging"
        case .replacing: "forReplacing"
        case .contentIndependentMetadataOnly: "contentIndependentMetadataOnly"
        }
    }

    private static func shown(_ report: ClaimReport) -> CoordinationMethods.Claim {
        let intent = report.accesses.first.map { access in
            switch access.intent {
            case .reading: "read"
            case .writing(.inPlace): "write"
            case .writing(let option): "write \(name(option))"
            }
        }
        return CoordinationMethods.Claim(
            id: report.id.rawValue, state: report.isHeld ? "held" : "waiting",
            paths: report.accesses.map { WirePath($0.path) }, access: intent ?? "none",
            purpose: report.purpose.rawValue,
            pid: report.processID, ageSeconds: report.age / .seconds(1))
    }

    private static func refusal(_ error: CoordinationError, _ path: RelativePath) -> QuireError {
        switch error.code {
        case .deadline: QuireError(.busy, "\(path): \(error)")
        case .cancelled: QuireError(.temporary, "\(path): \(error)")
        case .deadlock: QuireError(.conflict, "\(path): \(error)")
        case .invalid: QuireError(.usage, "\(path): \(error)")
        }
    }
}
