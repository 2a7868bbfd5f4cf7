import QuireCore

/// What is to become of the copies of a document, decided from the versions that are to be kept.
struct ConflictResolution: Equatable {
    /// The copy whose content the document gets; nil: the document stays.
    var becomesDocument: RelativePath?
    /// Copies that go to the kept versions.
    var removed: [RelativePath]
    /// Further copies that are kept, under names that are no conflict copies' any more.
    var renamed: [(RelativePath, RelativePath)]

    static func == (left: ConflictResolution, right: ConflictResolution) -> Bool {
        left.becomesDocument == right.becomesDocument && left.removed == right.removed
            && left.renamed.map(\.0) == right.renamed.map(\.0) && left.renamed.map(\.1) == right.renamed.map(\.1)
    }

    /// - Parameter keep: `current`, names of devices, or file names of copies; at least one.
    /// - Throws: `.notFound` where there is no conflict; `.usage` for a version that is none.
    static func choose(
        _ document: RelativePath, copies: [RelativePath], keep: [String]
    ) throws(QuireError) -> ConflictResolution {
        guard !copies.isEmpty else {
            throw QuireError(.notFound, "\(document) has no conflict", remedy: "See `quire conflicts`")
        }
        guard !keep.isEmpty else { throw QuireError(.usage, "no version to keep", remedy: "Name one with --keep") }
        var kept: [RelativePath] = []
        for name in keep where name != "current" {
            let meant = copies.filter { $0.name?.description == name || Self.conflict($0)?.device == name }
            guard !meant.isEmpty else {
                let known = ["current"] + copies.compactMap { Self.conflict($0)?.device }
                throw QuireError(
                    .usage, "\(document) has no version \"\(name)\"", remedy: "It has \(known.joined(separator: ", "))")
            }
            kept += meant.filter { !kept.contains($0) }
        }
        let winner = keep.contains("current") ? nil : kept.first
        return ConflictResolution(
            becomesDocument: winner, removed: copies.filter { !kept.contains($0) },
            renamed: kept.filter { $0 != winner }.map { ($0, Self.plainName($0)) })
    }

    private static func conflict(_ path: RelativePath) -> ConflictName? { path.name.flatMap { ConflictName($0) } }

    /// `a (conflicted copy 2026-01-31 from desk).txt` as `a (2026-01-31 from desk).txt`.
    static func plainName(_ path: RelativePath) -> RelativePath {
        guard let name = path.name?.string, let parent = path.parent,
            let mark = name.ranges(of: "(conflicted copy ").last,
            let plain = FileName(name[..<mark.lowerBound] + "(" + name[mark.upperBound...])
        else { return path }
        return parent.appending(plain)
    }
}
