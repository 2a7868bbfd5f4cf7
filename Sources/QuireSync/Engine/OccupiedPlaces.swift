import QuireCore

/// What pushes and pulls leave alone, as large uploads go on there: a listing that was made meanwhile says nothing of it, and what
/// they record must find the provider's directories as they were.
struct OccupiedPlaces: Sendable {
    private let items: Set<ItemID>
    private let places: Set<RelativePath>
    /// The directories above.
    private let directories: DirectorySet

    init(_ uploads: [UploadBeside] = []) {
        items = Set(uploads.map(\.item))
        places = Set(uploads.flatMap(\.places))
        var directories = DirectorySet()
        for place in places { directories.insert(above: place) }
        self.directories = directories
    }

    /// Whether something lies at, below or above such a place.
    func touches(_ path: RelativePath) -> Bool {
        !places.isEmpty && (path.isInside(anyOf: places) || directories.contains(path))
    }

    /// Which of the units are to be left alone: those of what is uploaded; of a directory above that, where that is to go, or to
    /// come to another place; and of all that lies in such a directory, before or afterwards.
    func units(of units: [TreeUnit]) -> Set<Int> {
        guard !places.isEmpty else { return [] }
        var occupied: Set<Int> = []
        var blocked: Set<RelativePath> = []
        for (position, unit) in units.enumerated() {
            let paths = Self.paths(unit)
            if unit.local.map({ items.contains($0.id) }) ?? false
                || paths.contains(where: { $0.isInside(anyOf: places) })
            {
                occupied.insert(position)
            } else if unit.plan.changesPlace, paths.contains(where: directories.contains) {
                occupied.insert(position)
                blocked.formUnion(paths)
            }
        }
        guard !blocked.isEmpty else { return occupied }
        for (position, unit) in units.enumerated()
        where Self.paths(unit).contains(where: { $0.isInside(anyOf: blocked) }) {
            occupied.insert(position)
        }
        return occupied
    }

    private static func paths(_ unit: TreeUnit) -> [RelativePath] {
        [unit.base?.path, unit.remote?.path, unit.local?.path, unit.target].compactMap(\.self)
    }
}
