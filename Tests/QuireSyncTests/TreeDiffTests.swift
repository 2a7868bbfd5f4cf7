import QuireCore
import QuireIndex
import QuireSync
import Testing

@Suite struct TreeDiffTests {
    private func remote(_ path: RelativePath, _ kind: FileKind = .file, version: String = "1", id: String? = nil)
        -> RemoteItem
    {
        RemoteItem(
            path: path, kind: kind, version: ProviderVersion(version), size: ByteCount(kind == .file ? 5 : 0),
            mtime: FileTime(nanoseconds: 1), mode: kind == .directory ? 0o755 : 0o644, identifier: id)
    }

    private func local(_ path: RelativePath, _ kind: FileKind, _ content: LocalState.Content, id: Int64) -> LocalEntry {
        let time = FileTime(nanoseconds: 1)
        return LocalEntry(
            id: ItemID(id), path: path, content: content,
            facts: ItemFacts(
                kind: kind, size: kind == .file ? 5 : 0, mtime: time, mode: kind == .directory ? 0o755 : 0o644),
            fingerprint: Fingerprint(inode: UInt64(id), size: 5, mtime: time, ctime: time, kind: kind))
    }

    /// A base at `path`, and its local item, unless it was deleted here.
    private func base(
        _ path: RelativePath, _ kind: FileKind = .file, id: Int64, at localPath: RelativePath? = nil,
        _ content: LocalState.Content = .asBase, isDeleted: Bool = false
    ) -> TreeBase {
        TreeBase(
            record: BaseRecord(container: .default, remote(path, kind, id: "\(id)")),
            local: isDeleted ? nil : local(localPath ?? path, kind, content, id: id))
    }

    /// What a pull makes of a whole listing.
    private func view(_ items: [RemoteItem], _ bases: [TreeBase], keepsAttributes: Bool = true) -> RemoteView {
        let listing = Listing(items, isWhole: true, keepsAttributes: keepsAttributes)
        let difference = ListingDifference(listing, bases.compactMap { listing.compare($0) })
        return RemoteView(difference.whole, bases: bases)
    }

    private func plans(
        _ bases: [TreeBase], _ items: [RemoteItem], locals: [LocalEntry] = []
    ) throws -> [RelativePath: [SyncStep]] {
        let diff = TreeDiff(bases: bases, remote: view(items, bases))
        let byPath = Dictionary(locals.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [RelativePath: [SyncStep]] = [:]
        for unit in diff.units(localAt: byPath) {
            found[unit.remote?.path ?? unit.base?.path ?? .root] = unit.plan.steps
        }
        return found
    }

    @Test("Equal trees need nothing")
    func equal() throws {
        let bases = [base("d", .directory, id: 1), base("d/a", id: 2)]
        #expect(try plans(bases, [remote("d", .directory, id: "1"), remote("d/a", id: "2")]).isEmpty)
    }

    @Test("Changes add up to a tree: what is gone goes with all in it, and nothing stays below a file")
    func changes() throws {
        let bases = [
            base("d", .directory, id: 1), base("d/a", id: 2), base("e", .directory, id: 3), base("e/b", id: 4),
            base("f", id: 5),
        ]
        let changes = BaseScope(
            changed: [remote("d"), remote("e/c"), remote("f", version: "2")], removed: ["e"])
        let view = RemoteView(changes, bases: bases)
        #expect(Set(view.items.keys) == ["d", "e/c", "f"])
        #expect(view.items["d"]?.kind == .file && view.items["f"]?.version == ProviderVersion("2"))
    }

    @Test("Attributes that were uploaded with a version are taken once, those of listings only with a new version")
    func uploadedAttributes() throws {
        func plan(known: UInt16?, item: UInt16?, version: String = "1") throws -> [SyncStep]? {
            var base = base("a", id: 1)
            base.record.mode = known
            var there = remote("a", version: version)
            (there.mtime, there.mode) = (FileTime(nanoseconds: 9), item)
            let view = view([there], [base], keepsAttributes: false)
            return TreeDiff(bases: [base], remote: view, keepsAttributes: false).units(localAt: [:]).first?.plan.steps
        }
        #expect(try plan(known: nil, item: 0o600) == [.applyAttributes])
        #expect(try plan(known: nil, item: nil) == nil)
        #expect(try plan(known: 0o644, item: 0o600) == nil)
        #expect(try plan(known: 0o644, item: nil, version: "2") == [.updateLocal])
    }

    @Test("A directory renamed at the provider is one move, however much lies in it")
    func directoryMove() throws {
        let bases = [base("d", .directory, id: 1), base("d/a", id: 2), base("d/b", id: 3)]
        let items = [remote("e", .directory, id: "1"), remote("e/a", id: "2"), remote("e/b", id: "3")]
        #expect(try plans(bases, items) == ["e": [.moveLocal]])
    }

    @Test("Without identifiers a rename is a removal and something new")
    func moveWithoutIdentifier() throws {
        var bases = [base("a", id: 1)]
        bases[0].record.identifier = nil
        #expect(try plans(bases, [remote("b")]) == ["a": [.removeLocal], "b": [.createLocal]])
    }

    @Test("A file saved by replacing it is the same document with other content")
    func replaced() throws {
        #expect(try plans([base("a", id: 1)], [remote("a", version: "2", id: "9")]) == ["a": [.updateLocal]])
    }

    @Test("An identifier that two items share tells nothing")
    func sharedIdentifier() throws {
        let found = try plans([base("a", id: 1)], [remote("b", id: "1"), remote("c", id: "1")])
        #expect(found == ["a": [.removeLocal], "b": [.createLocal], "c": [.createLocal]])
    }

    @Test("A directory removed at the provider stays while something in it was edited here")
    func keptHere() throws {
        let bases = [base("d", .directory, id: 1), base("d/a", id: 2, .changed), base("d/b", id: 3)]
        let found = try plans(bases, [])
        #expect(found == ["d": [.forget, .createRemote], "d/a": [.forget, .createRemote], "d/b": [.removeLocal]])
    }

    @Test("A file removed at the provider goes, also where a directory of its name comes with something in it")
    func fileGivesWay() throws {
        let bases = [base("d", id: 1), base("moved", id: 2), base("other", .directory, id: 3)]
        let items = [remote("d", .directory, id: "3"), remote("d/moved", id: "2")]
        let diff = TreeDiff(bases: bases, remote: view(items, bases))
        #expect(diff.units(localAt: [:]).first { $0.base?.path == "d" }?.plan == [.removeLocal])
    }

    @Test("A directory removed here comes back when something in it was edited at the provider")
    func keptThere() throws {
        let bases = [
            base("d", .directory, id: 1, isDeleted: true), base("d/a", id: 2, isDeleted: true),
            base("d/b", id: 3, isDeleted: true),
        ]
        let items = [remote("d", .directory, id: "1"), remote("d/a", version: "2", id: "2"), remote("d/b", id: "3")]
        let found = try plans(bases, items)
        #expect(found["d"] == [.createLocal] && found["d/a"] == [.createLocal])
        #expect(found["d/b"] == [.deleteRemote(expecting: ProviderVersion("1"))])
    }

    @Test("What is new at the provider follows a directory that was renamed here")
    func newInRenamed() throws {
        let bases = [base("d", .directory, id: 1, at: "e")]
        let items = [remote("d", .directory, id: "1"), remote("d/new", id: "2")]
        let diff = TreeDiff(bases: bases, remote: view(items, bases))
        #expect(diff.wantedLocals == ["e/new"])
        #expect(diff.units(localAt: [:]).map(\.target) == ["e", "e/new"])
    }

    @Test("A new local directory in the place of a new remote one is adopted, and what lies in both is compared")
    func directoriesMeet() throws {
        let items = [remote("d", .directory), remote("d/a")]
        let locals = [local("d", .directory, .changed, id: 1), local("d/a", .file, .changed, id: 2)]
        #expect(try plans([], items, locals: locals) == ["d": [.adopt], "d/a": [.compare]])
    }

    @Test("A file here and a directory there: the local one is moved aside")
    func kindClash() throws {
        let found = try plans([], [remote("x", .directory)], locals: [local("x", .file, .changed, id: 1)])
        #expect(found == ["x": [.moveAside, .createLocal]])
    }

    @Test("A partial answer changes only what it names")
    func partialChanges() throws {
        let bases = [base("a", id: 1), base("d", .directory, id: 2), base("d/b", id: 3)]
        let changes = BaseScope(changed: [remote("a", version: "2", id: "1")], removed: ["d"])
        let view = RemoteView(changes, bases: bases)
        let found = TreeDiff(bases: bases, remote: view).units(localAt: [:]).map(\.plan)
        #expect(found == [[.updateLocal], [.removeLocal], [.removeLocal]])
    }

    @Test("What lies in another provider's container is left alone")
    func excluded() throws {
        let changes = BaseScope(changed: [remote("Notes/a"), remote("b")], removed: [])
        let view = RemoteView(changes, bases: [base("Notes/c", id: 1)], excluding: ["Notes"])
        #expect(Array(view.items.keys) == ["b"])
    }
}
