import GRDB
import QuireCore

/// Packages that are saved whole: built beside under an ephemeral name, then exchanged.
extension TreeWriter {
    /// Two directories changed places in the store, one of them temporary: each row stays where it is, with its identity and
    /// base, and takes what the other had. So does each file that both have at the same place; what only one has moves.
    ///
    /// - Parameters: the rows as they were, each with what is at its place now.
    mutating func exchangeTrees(_ one: (row: ItemRow, local: LocalRecord), _ other: (row: ItemRow, local: LocalRecord))
        throws
    {
        let (first, second) = (try take(one.local, one.row), try take(other.local, other.row))
        let (firstChildren, secondChildren) = (try children(of: first.id), try children(of: second.id))
        let twins = Dictionary(uniqueKeysWithValues: secondChildren.map { ($0.name, $0) })
        for child in firstChildren {
            guard let twin = twins[child.name] else {
                try moveChild(child, to: second)
                continue
            }
            switch (child.local.kind, twin.local.kind) {
            case (.directory, .directory): try exchangeTrees((child, twin.local), (twin, child.local))
            case (.file, .file): try exchangeContents(child, twin)
            default:
                try sendToLimbo(child)
                try moveChild(twin, to: first)
                try moveChild(child, to: second)
            }
        }
        let names = Set(firstChildren.map(\.name))
        for child in secondChildren where !names.contains(child.name) { try moveChild(child, to: first) }
    }

    private mutating func exchangeContents(_ one: ItemRow, _ other: ItemRow) throws {
        var (first, second) = (one, other)
        (first.writersOpen, second.writersOpen) = (other.writersOpen, one.writersOpen)
        _ = try take(other.local, first)
        _ = try take(one.local, second)
    }

    private mutating func take(_ local: LocalRecord, _ before: ItemRow) throws -> ItemRow {
        var row = before
        row.local = local
        try touch(&row)
        try update(row)
        return row
    }

    private mutating func moveChild(_ child: ItemRow, to directory: ItemRow) throws {
        var row = child
        try touch(&row)
        try place(&row, in: DirectoryRow(directory), child.name)
        try updatePlaced(row, before: child)
    }
}
