import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// What a listing is planned by. That those plans are right is `ScopedPlansTests`'.
@Suite(.timeLimit(.minutes(1))) struct ListingTests {
    private func item(_ path: RelativePath, _ kind: FileKind = .file, version: String = "1") -> RemoteItem {
        RemoteItem(
            path: path, kind: kind, version: ProviderVersion(version), size: ByteCount(kind == .file ? 1 : 0),
            mtime: FileTime(nanoseconds: 1), mode: 0o644)
    }

    private func difference(
        _ listing: Listing, from bases: [RemoteItem]
    ) -> ListingDifference {
        let bases = bases.map { TreeBase(record: BaseRecord(container: .default, $0), local: nil) }
        return ListingDifference(listing, bases.compactMap { listing.compare($0) })
    }

    @Test("What changed and came is planned in parts, each with the directories of its items")
    func parts() {
        let there = [
            item("d", .directory), item("d/e", .directory), item("d/e/1"), item("d/e/2"), item("same"),
            item("changed", version: "2"),
        ]
        let found = difference(
            Listing(there, isWhole: true), from: [item("d", .directory), item("same"), item("changed")])
        #expect(!found.isEntangled)
        let parts = found.parts(of: 1).map { Set($0.changed.map(\.path)) }
        #expect(parts == [["changed"], ["d/e", "d"], ["d/e/1", "d/e", "d"], ["d/e/2", "d/e", "d"]])
        #expect(Array(found.parts(of: 10)).map(\.changed.count) == [5])
        #expect(Array(difference(Listing(there, isWhole: true), from: there).parts(of: 10)).isEmpty)
    }

    @Test("What is gone, or another than it was, is planned with all else")
    func entangled() {
        let gone = difference(Listing([item("new")], isWhole: true), from: [item("old")])
        #expect(gone.isEntangled)
        #expect(gone.whole.changed == [item("new")] && gone.whole.removed == ["old"])
        let other = difference(Listing([item("a", .directory)], isWhole: true), from: [item("a")])
        #expect(other.isEntangled)
        #expect(other.whole.changed == [item("a", .directory)] && other.whole.removed.isEmpty)
    }

    @Test("What a part of a listing does not tell is not gone; told twice, the last counts")
    func told() {
        let some = Listing([item("a"), item("a", version: "2")], isWhole: false)
        let found = difference(some, from: [item("a"), item("b")])
        #expect(!found.isEntangled)
        #expect(found.whole.changed == [item("a", version: "2")])
        let around = Listing([item("Notes/a"), item("b")], isWhole: true, excluding: ["Notes"])
        #expect(difference(around, from: []).whole.changed == [item("b")])
    }

    @Test("A directory of more documents than are read at one time comes, is fetched, and goes again")
    func many() async throws {
        let provider = MemoryProvider()
        provider.edit { tree in
            tree.write("d", .directory)
            for number in 0..<230 { tree.write(RelativePath(stringLiteral: "d/\(number)"), "text \(number)") }
        }
        let device = try Device("one", provider: provider, clock: TestClock(), pullPart: 100)
        #expect(await device.sync() == .settled)
        #expect(try device.listing().count == 231)
        #expect(try await device.service.download("d") == 230)
        #expect(try device.text("d/229") == "text 229")
        try await device.index.settle()
        #expect(try await device.service.download("d") == 0)
        #expect(try await device.service.evict("d") == 230)
        #expect(try device.isDataless("d/0") && device.isDataless("d/229"))
        await #expect(throws: QuireError.self) { try await device.service.download("e") }
    }
}
