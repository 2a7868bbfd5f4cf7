import GRDB
import QuireCore

/// Placeholders that were moved in a home that was copied or restored as well: nothing but the mark leads to the row.
///
/// ```
/// placeholder whose mark does not name its row's base ─▶ rows whose placeholders are not where they say
///                                       one fits, best one of its name ─▶ that row moves
///                                       several or none, mark unreadable ─▶ deletions of those that it may be are held
/// ```
extension TreeWriter {
    private typealias Pair = (stray: MarkedSources.Stray, source: Int64)

    /// Notes a row that got another file, if that is a placeholder of something else than its base.
    func noteStray(
        _ row: ItemRow, _ entry: StoreLister.Entry, in path: RelativePath, isNew: Bool, _ rescan: inout Rescan,
        _ lister: StoreLister
    ) throws {
        let mark = lister.placeholder(entry, in: path)
        guard try isStray(row, mark) else { return }
        rescan.strays.append(Rescan.Stray(id: row.id, mark: mark, isNew: isNew, hasBase: row.base != nil))
    }

    /// Moves rows to the placeholders that name their bases; all is listed.
    mutating func followMarks(_ rescan: inout Rescan, _ lister: StoreLister) throws {
        rescan.hidesMoved = false
        guard try isAnythingSought(rescan) else { return }
        var strays: [MarkedSources.Stray] = []
        for stray in rescan.strays {
            guard let row = try row(stray.id), try isStray(row, stray.mark) else { continue }
            strays.append(MarkedSources.Stray(row: row, mark: stray.mark, isNew: stray.isNew))
        }
        if rescan.isWhole { strays += try baseless(but: Set(strays.map(\.row.id)), lister) }
        guard !strays.isEmpty || rescan.firstNew != nil else { return }
        var sources = try sources(rescan, strays)
        var pairs: [Pair] = []
        for byName in [true, false] {
            var left: [MarkedSources.Stray] = []
            for stray in strays {
                if let row = sources.take(for: stray, byName: byName) {
                    pairs.append((stray, row.id))
                    // Another may be in its place.
                    try sendToLimbo(row)
                } else {
                    left.append(stray)
                }
            }
            strays = left
        }
        if let first = rescan.firstNew { strays += try pairZeros(since: first, &sources, &pairs, lister) }
        for pair in pairs { try move(pair.source, to: pair.stray, &rescan) }
        let replaced = Set(pairs.map(\.stray.row.id))
        let bySize = Dictionary(grouping: strays) { $0.row.local.size }
        for source in sources.rest {
            // Another is in its place now: the provider may have its only content, whatever lies here.
            let isReplaced = replaced.contains(source.row.id)
            let mayBeHere = bySize[source.row.local.size]?.contains { $0.mayBe(source) } ?? false
            guard isReplaced || !source.isThere && mayBeHere else { continue }
            rescan.hidesMoved = true
            if source.isUndecided { try setAside(source.row, &rescan) }
        }
    }

    /// Whether a row may be of something that lies elsewhere: what is missing, or in whose place another lies.
    private func isAnythingSought(_ rescan: Rescan) throws -> Bool {
        if !rescan.missing.isEmpty || !rescan.undecided.isEmpty { return true }
        if rescan.isWhole, try !children(of: Schema.limbo).isEmpty { return true }
        return rescan.strays.contains { $0.hasBase }
    }

    /// Placeholders of nothing, as a rescan has noted them that was broken off.
    private func baseless(but known: Set<Int64>, _ lister: StoreLister) throws -> [MarkedSources.Stray] {
        let ids = try db.all(
            "SELECT id FROM items WHERE dataless = 1 AND base IS NULL AND kind = 0", read: { $0.integer(0) })
        return try ids.compactMap { id in
            guard !known.contains(id), let (row, entry, directory) = try present(id) else { return nil }
            return MarkedSources.Stray(row: row, mark: lister.placeholder(entry, in: directory), isNew: nil)
        }
    }

    /// A row with what is in its place, where that is its file still.
    private func present(_ id: Int64) throws -> (row: ItemRow, entry: StoreLister.Entry, directory: RelativePath)? {
        guard let row = try row(id), row.parent != Schema.limbo, let path = try path(of: row),
            let directory = path.parent, case .entry(let status) = placeInStore(path), status.inode == row.local.inode
        else { return nil }
        return (row, StoreLister.Entry(name: row.name, status: status), directory)
    }

    /// Whether the mark of a row's placeholder, nil where it cannot be read, does not name its base.
    private func isStray(_ row: ItemRow, _ mark: Placeholder?) throws -> Bool {
        guard row.local.isDataless, row.local.kind == .file, row.parent != Schema.limbo else { return false }
        return try row.base == nil || mark.map { try !isOf($0, row) } ?? true
    }

    /// The rows that a stray may be of. Strays may be one another's.
    private func sources(_ rescan: Rescan, _ strays: [MarkedSources.Stray]) throws -> MarkedSources {
        var found = MarkedSources()
        func add(_ row: ItemRow, isThere: Bool = false, isUndecided: Bool = false) throws {
            if row.local.kind == .directory {
                for child in try children(of: row.id) { try add(child) }
            } else if row.local.isDataless, row.base != nil {
                found.add(
                    MarkedSources.Source(
                        row: row, base: try placeholder(row), isThere: isThere, isUndecided: isUndecided))
            }
        }
        for stray in strays { try add(stray.row, isThere: true) }
        for (directory, names) in rescan.undecided {
            for name in names { if let row = try row(in: directory, name) { try add(row, isUndecided: true) } }
        }
        if rescan.isWhole { for row in try children(of: Schema.limbo) { try add(row) } }
        for missing in rescan.missing {
            guard let row = try row(missing.id), row.parent == missing.parent, row.name == missing.name else {
                continue
            }
            if row.parent != Schema.limbo, let path = try path(of: row) {
                guard case .nothing = placeInStore(path) else { continue }
            }
            try add(row)
        }
        return found
    }

    /// Pairs what is missing with new files of its size that have no byte other than zero: copies whose tool has left the mark
    /// out. They get it again.
    ///
    /// - Parameter first: the id from which on rows are new.
    /// - Returns: those of which it cannot be told what they are.
    private mutating func pairZeros(
        since first: Int64, _ sources: inout MarkedSources, _ pairs: inout [Pair], _ lister: StoreLister
    ) throws -> [MarkedSources.Stray] {
        var left: [MarkedSources.Stray] = []
        let missing = Dictionary(grouping: sources.rest.filter { !$0.isThere }) { $0.row.local.size }
        guard !missing.isEmpty else { return [] }
        let new = try db.all(
            "SELECT id, size FROM items WHERE id >= ? AND kind = 0 AND dataless = 0", .integer(first)
        ) { (id: $0.integer(0), size: $0.integer(1)) }
        let bySize = Dictionary(grouping: new.filter { missing[$0.size] != nil }) { $0.size }
        for (size, missing) in missing.sorted(by: { $0.key < $1.key }) {
            let files = try zeros((bySize[size] ?? []).map(\.id), lister)
            for file in files {
                let named = missing.filter { $0.row.name == file.entry.name }
                let isNamed = named.count == 1 && files.count(where: { $0.entry.name == file.entry.name }) == 1
                let fits = isNamed ? named : files.count == 1 ? missing : []
                var (entry, row) = (file.entry, file.row)
                // One that was uploaded meanwhile is a document there.
                guard row.base == nil, fits.count == 1, let source = fits.first, source.row.container == row.container,
                    (try? lister.renewMark(of: &entry, in: file.directory, source.base)) ?? false
                else {
                    left.append(MarkedSources.Stray(row: row, mark: nil, isNew: true))
                    continue
                }
                row.local = LocalRecord(entry.status, isDataless: true)
                pairs.append((MarkedSources.Stray(row: row, mark: source.base, isNew: true), source.row.id))
                sources.remove(source)
                try sendToLimbo(source.row)
            }
        }
        return left
    }

    /// New files of zeros alone that nobody has open for writing.
    private func zeros(
        _ ids: [Int64], _ lister: StoreLister
    ) throws -> [(row: ItemRow, entry: StoreLister.Entry, directory: RelativePath)] {
        try ids.compactMap { id in
            guard let file = try present(id), !file.row.isLocalOnly, !file.row.writersOpen,
                lister.mayBeZeros(file.entry, in: file.directory)
            else { return nil }
            return file
        }
    }

    /// Moves a row, which is in no place, to where its placeholder is.
    private mutating func move(
        _ source: Int64, to stray: MarkedSources.Stray, _ rescan: inout Rescan
    ) throws {
        guard let directory = try row(stray.row.parent), let before = try row(source) else { return }
        if let target = try row(in: directory.id, stray.row.name) {
            if target.base == nil { try delete(target) } else { try setAside(target, &rescan) }
        }
        var row = before
        row.local = stray.row.local
        row.writersOpen = false
        try touch(&row)
        try place(&row, in: DirectoryRow(directory), stray.row.name)
        try updatePlaced(row, before: before)
        rescan.report.moved += 1
        switch stray.isNew {
        case true?: rescan.report.added -= 1
        case false?: rescan.report.changed -= 1
        case nil: break
        }
    }
}
