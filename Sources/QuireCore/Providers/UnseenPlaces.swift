/// Where a provider could not tell what is there: what is known of these places, and below them, is as it was. Nor is a
/// directory gone that one of them is in.
package struct UnseenPlaces: Sendable, Hashable {
    private var places: Set<RelativePath> = []
    private var above = DirectorySet()

    /// Nowhere.
    package init() {}

    /// Tells apart what a provider told and what it could not tell.
    ///
    /// - Parameter told: as `RemoteChanges` has it. On return without what is unseen, and without what lies there.
    package init(takingFrom told: inout [RemoteItem]) {
        self.init(told.lazy.filter { $0.unseen != nil }.map(\.path))
        if !places.isEmpty { told.removeAll { covers($0.path) } }
    }

    /// Some places.
    package init(_ places: some Sequence<RelativePath>) {
        for place in places {
            self.places.insert(place)
            above.insert(above: place)
        }
    }

    /// Whether everything was told.
    package var isEmpty: Bool { places.isEmpty }

    /// Whether nothing is known of what is at a path now.
    package func covers(_ path: RelativePath) -> Bool { !places.isEmpty && path.isInside(anyOf: places) }

    /// Whether what was known at a path is not gone, although nothing is told of it.
    package func keeps(_ path: RelativePath) -> Bool { covers(path) || above.contains(path) }
}
