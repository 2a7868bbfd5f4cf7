package import QuireCore

/// How a container's provider stands.
package struct EngineStatus: Sendable, Hashable {
    package var container: ContainerID
    package var providerName: String
    package var isOnline: Bool
    /// Why it is not online.
    package var message: String?
    package var lastPoll: FileTime?
}
