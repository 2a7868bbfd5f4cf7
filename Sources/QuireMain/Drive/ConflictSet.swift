import QuireCore

/// The conflict copies of a drive, and the documents they are copies of.
struct ConflictSet: Sendable {
    private let copies: [RelativePath: RelativePath]
    private let documents: [RelativePath: [RelativePath]]

    init(copies: [RelativePath]) {
        var documents: [RelativePath: [RelativePath]] = [:]
        var originals: [RelativePath: RelativePath] = [:]
        for copy in copies {
            guard let name = copy.name, let conflict = ConflictName(name), let parent = copy.parent else { continue }
            let document = parent.appending(conflict.original)
            originals[copy] = document
            documents[document, default: []].append(copy)
        }
        self.copies = originals
        self.documents = documents
    }

    /// How many copies there are.
    var count: Int { copies.count }

    /// The copies, in the order of their paths.
    var all: [RelativePath] { copies.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) } }

    func contains(_ path: RelativePath) -> Bool { copies[path] != nil || documents[path] != nil }

    /// The document that `path` is, or is a copy of.
    func document(of path: RelativePath) -> RelativePath { copies[path] ?? path }

    /// The copies beside a document.
    func copies(of document: RelativePath) -> [RelativePath] {
        (documents[document] ?? []).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}
