import QuireCore
import QuireIndex

/// Has another store be a provider's than before, of which nothing is known.
struct StoreReset: Sendable {
    /// Which containers a provider keeps now.
    let containers: @Sendable (Configuration.Provider) async throws -> [ContainerID]
    /// The configuration that the drive runs with, or would.
    let configuration: @Sendable () async -> Configuration
    /// Does it, as `ProviderBinding.reset`.
    let reset: @Sendable (Configuration.Provider) async throws -> Void

    /// How many paths are named.
    private static let shown = 10

    func provider(named name: String) async throws -> Configuration.Provider {
        guard let found = await configuration().provider(named: name) else { throw QuireError.noProvider(named: name) }
        return found
    }

    /// What becomes of what is on the drive, one sentence each.
    func words(_ provider: Configuration.Provider, _ index: MetadataIndex) async throws -> [String] {
        var places = ContentPlaces()
        for container in try await containers(provider) {
            let more = try await index.contentPlaces(in: container, limit: Self.shown)
            places.here += more.here
            places.elsewhere += more.elsewhere
            places.first += more.first
        }
        var words = [
            "whatever store is found at \(provider.url) is the one of \(provider.name) from then on: where that is a disk, "
                + "make sure that it is mounted",
            "\(Self.documents(places.here)) with content here: uploaded where the store lacks them; where both have another "
                + "content, both are kept",
        ]
        if places.elsewhere > 0 {
            let shown = places.first.prefix(Self.shown)
            let rest = places.elsewhere - shown.count
            words.append(
                "\(Self.documents(places.elsewhere)) without content here: what the store lacks is nowhere, and stays as a "
                    + "placeholder that says so: \(shown.map(\.description).joined(separator: ", "))"
                    + (rest > 0 ? " and \(rest) more (`quire find --state dataless`)" : ""))
        }
        return words + ["nothing is deleted, here or there; what was deleted here and there is still comes back"]
    }

    private static func documents(_ count: Int) -> String { count == 1 ? "1 document" : "\(count) documents" }
}
