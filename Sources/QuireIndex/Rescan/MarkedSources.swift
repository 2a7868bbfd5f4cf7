import QuireCore

/// Rows of placeholders that are not where they say, to be found by what a placeholder's mark names.
struct MarkedSources {
    /// A row whose placeholder is not where it says.
    struct Source {
        var row: ItemRow
        /// What a placeholder of its base says.
        var base: Placeholder
        /// The row stays unless it is found elsewhere.
        var isThere: Bool
        /// Another document may be in its place.
        var isUndecided: Bool
    }

    /// A placeholder of which the row is sought.
    struct Stray {
        var row: ItemRow
        var mark: Placeholder?
        /// Whether this rescan made the row; nil where an earlier one did, which was broken off.
        var isNew: Bool?

        /// Whether nothing speaks against it.
        func mayBe(_ source: Source) -> Bool {
            guard row.local.size == source.row.local.size else { return false }
            guard let mark else { return true }
            guard mark.container == source.base.container else { return false }
            guard let sum = mark.checksum, let known = source.base.checksum else { return true }
            return sum == known
        }
    }

    private enum Key: Hashable {
        case version(ProviderVersion)
        case checksum(ContentChecksum)
    }

    private var sources: [Int64: Source] = [:]
    private var ids: [Key: Set<Int64>] = [:]

    /// Those that were not taken.
    var rest: [Source] { sources.values.sorted { $0.row.id < $1.row.id } }

    mutating func add(_ source: Source) {
        sources[source.row.id] = source
        ids[.version(source.base.version), default: []].insert(source.row.id)
        if let sum = source.base.checksum { ids[.checksum(sum), default: []].insert(source.row.id) }
    }

    /// Takes the row that a placeholder is of; nil where that cannot be told.
    ///
    /// - Parameter byName: it has the same name.
    mutating func take(for stray: Stray, byName: Bool) -> ItemRow? {
        guard let mark = stray.mark, mark.container.rawValue == stray.row.container else { return nil }
        let named = ids[.version(mark.version), default: []].union(
            mark.checksum.flatMap { ids[.checksum($0)] } ?? [])
        let fitting = named.sorted().compactMap { sources[$0] }.filter { source in
            source.row.id != stray.row.id && stray.mayBe(source) && (!byName || source.row.name == stray.row.name)
        }
        // Of documents with the same content any is as good.
        let isOneContent = mark.checksum.map { sum in fitting.allSatisfy { $0.base.checksum == sum } } ?? false
        guard let found = fitting.first, fitting.count == 1 || isOneContent else { return nil }
        remove(found)
        return found.row
    }

    mutating func remove(_ source: Source) {
        sources[source.row.id] = nil
        ids[.version(source.base.version)]?.remove(source.row.id)
        if let sum = source.base.checksum { ids[.checksum(sum)]?.remove(source.row.id) }
    }
}
