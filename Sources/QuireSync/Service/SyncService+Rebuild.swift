import Logging
package import QuireCore
import Synchronization

/// A damaged index was replaced by a new one, in which no provider has anything.
///
/// Whatever the engines planned by the former is broken off, and they begin anew, with a look at all that the providers have,
/// when the new one knows all of the store. Nothing counts as deleted meanwhile, here or there.
extension SyncService {
    /// Breaks off what the engines do, and has them begin nothing until `beginAnew`. Returns when nothing is under way any more.
    /// Content that a program opens is fetched all the same.
    ///
    /// - Parameter tell: given the names of the providers that are still waited for after `patience`: in the middle of a call
    ///   nothing can be broken off.
    package func hold(
        patience: Duration = .seconds(10), _ tell: @escaping @Sendable (_ hanging: [String]) -> Void
    ) async {
        await pausing.hold(patience: patience, tell)
    }

    /// What the engines keep, and where.
    package var containers: [SyncedContainer] { engines.map(\.context.container) }

    /// Goes on after `hold` as after a start, with a pause that the user began.
    ///
    /// - Throws: what the index says where a pause cannot be noted; the engines have begun all the same.
    package func beginAnew() async throws(QuireError) {
        replaceEngines(containers)
        pausing.release()
        wake()
        guard let end = pausing.end else { return }
        try await reading { try await self.environment.index.setValue(Self.pauseKey, end.text) }
    }
}
