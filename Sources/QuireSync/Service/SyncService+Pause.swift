import Logging
package import QuireCore

extension SyncService {
    /// Under which the index keeps `PauseEnd.text`; nothing there while the drive is not paused.
    package static let pauseKey = "sync.paused"

    /// When the pause ends; nil while there is none.
    package var pauseEnd: PauseEnd? { pausing.end }

    /// Uploads nothing and asks the providers for nothing from now on, but for the content of what is opened or asked for by
    /// name. What is under way is broken off, and begun anew afterwards. Outlives the daemon.
    package func pause(until end: PauseEnd) async throws(QuireError) {
        try await reading { try await self.environment.index.setValue(Self.pauseKey, end.text) }
        pausing.set(end)
        wake()
    }

    /// Goes on after `pause`.
    package func resume() async throws(QuireError) {
        try await reading { try await self.environment.index.setValue(Self.pauseKey, nil) }
        pausing.set(nil)
        wake()
    }

    /// Goes on with the pause that an earlier daemon had.
    package func restorePause() async {
        do {
            pausing.set(try await environment.index.value(Self.pauseKey).flatMap { PauseEnd(text: $0) })
        } catch {
            logger.warning("whether the drive was paused cannot be read", metadata: ["error": "\(error)"])
        }
    }
}
