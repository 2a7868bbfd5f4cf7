import QuireCore

/// By which containers and ephemeral names rows are placed, as text to compare with at the next start.
struct PlacementRules {
    /// Counts the ways to place by them: what was placed by a former one is placed anew.
    private static let way = 2

    let stored: String

    init(_ layout: ContainerLayout, _ ephemeral: EphemeralNames) {
        let roots = layout.roots.map { "\($0.container)=\($0.directory)" }.sorted()
        stored = (roots + ["--"] + ephemeral.patterns + ["-- \(Self.way)"]).joined(separator: "\n")
    }
}
