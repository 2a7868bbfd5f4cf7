import Foundation
import QuireCore
import QuireTransport
import Synchronization

/// Access that is granted, until it is given back.
final class HeldAccess: Sendable {
    let session: DriveSession
    let claim: UInt64
    let intents: [FileAccessIntent]
    private let isEnded = Atomic<Bool>(false)

    init(session: DriveSession, claim: UInt64, intents: [FileAccessIntent]) {
        self.session = session
        self.claim = claim
        self.intents = intents
    }

    /// Whether any of it is a write.
    var isWriting: Bool { intents.contains { !$0.kind.isReading } }

    /// Gives the claim back, once, also in a task that was cancelled.
    ///
    /// - Throws: `.unavailable` where the daemon ended meanwhile: others may have used the items during the access.
    func end() async throws(QuireError) {
        guard !isEnded.exchange(true, ordering: .relaxed) else { return }
        do {
            _ = try await session.connection.peer.finish(
                CoordinationMethods.Release.self, .init(claim: claim), handle: nil)
        } catch {
            guard session.connection.isClosed else { throw error }
            let items = intents.map(\.url.path).joined(separator: ", ")
            throw QuireError(
                .unavailable, "\(items): the daemon ended during the access, and others may have used the item",
                remedy: "Read it again")
        }
    }
}
