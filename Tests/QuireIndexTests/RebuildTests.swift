import Glibc
import Logging
import QuireCore
import Testing

@testable import QuireIndex

@Suite("A damaged index is built anew while it is open", .timeLimit(.minutes(2)))
struct RebuildTests {
    enum Finder: CaseIterable {
        case writer, reader
    }

    /// Two documents and a directory, all at the provider.
    private func withDamage(by finder: Finder, _ body: (TestDrive, IndexRebuild) async throws -> Void) async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try drive.makeDirectory("sub")
            try drive.create("sub/inner", "two")
            try await drive.acknowledge("doc", "sub", "sub/inner")
            try await drive.index.settle()
            try await find(drive, finder)
            try await body(drive, try await drive.rebuilt())
        }
    }

    private func find(_ drive: TestDrive, _ finder: Finder) async throws {
        if drive.status("sub") == nil { try drive.makeDirectory("sub") }
        try await drive.index.settle()
        switch finder {
        case .writer:
            try await drive.forgetPages()
            try drive.damageIndex()
            try drive.create("sub/meanwhile", "three")
        case .reader:
            // What readers have kept is of an earlier state then.
            try await drive.index.setValue("test", "1")
            try drive.damageIndex()
            await #expect(throws: IndexError.self) { try await drive.index.counts() }
            try drive.create("sub/meanwhile", "three")
        }
    }

    @Test("It is set aside, filled from the store, and no event is lost", arguments: Finder.allCases)
    func rebuilt(by finder: Finder) async throws {
        try await withDamage(by: finder) { drive, rebuild in
            #expect(access(rebuild.setAside, F_OK) == 0)
            #expect(rebuild.setAside.contains("index.sqlite.corrupt-"))
            try await drive.index.waitUntilWhole()
            #expect(drive.index.rebuild == nil && drive.index.failure == nil)
            drive.index.takeBases(after: rebuild)
            #expect(
                try await drive.pendingText() == [
                    "doc: created", "sub: created", "sub/inner: created", "sub/meanwhile: created",
                ])
            try await drive.acknowledge("doc", "sub", "sub/inner", "sub/meanwhile")
            #expect(try await drive.pendingText() == [])
            let ids = try await drive.index.find(ItemQuery()).map(\.id)
            drive.index.close()
            let next = try TestDrive(at: drive.directory)
            defer { next.index.close() }
            #expect(next.opening == .existing)
            #expect(try await next.index.find(ItemQuery()).map(\.id) == ids)
        }
    }

    @Test("No id is given twice")
    func ids() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            let before = try await drive.item("doc").id
            try await find(drive, .writer)
            _ = try await drive.rebuilt()
            try await drive.index.waitUntilWhole()
            #expect(try await drive.item("doc").id > before)
        }
    }

    @Test("What was under way at a provider is no deletion, however late its answer comes")
    func lateAnswers() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try drive.create("moved", "two")
            try await drive.acknowledge("moved")
            let sent = try await drive.item("doc").id
            let base = try drive.base("doc")
            let moved = try drive.base("moved", at: "elsewhere")
            let fingerprint = try drive.present("doc").fingerprint
            try await find(drive, .writer)
            let rebuild = try await drive.rebuilt()
            // The answers find nothing in the new index, and later another document's place.
            for _ in 0..<2 {
                drive.index.record(
                    .acknowledged(.init(item: sent, base: base, fingerprint: fingerprint, writersOpen: false)))
                drive.index.record(.baseMoved(container: .default, from: "moved", moved))
                #expect(try await drive.pending().filter(\.isDeleted).isEmpty)
                try await drive.index.waitUntilWhole()
            }
            #expect(try await drive.pendingText().contains("doc: created"))
            drive.index.takeBases(after: rebuild)
            try await drive.acknowledge("doc")
            #expect(try await !drive.pendingText().contains("doc: created"))
        }
    }

    @Test("Running queries end as outdated; asked again, they find all and go on")
    func queries() async throws {
        try await withDrive { drive in
            let live = LiveQueries(
                drive.index, transfers: { [:] }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try drive.create("doc", "one")
            let (query, found) = try await live.start(ItemQuery())
            #expect(found.count == 1)
            try await find(drive, .writer)
            _ = try await drive.rebuilt()
            live.restart()
            for await _ in query.signals {}
            #expect(query.isOutdated)
            let (again, all) = try await live.start(ItemQuery())
            #expect(
                Set(try await drive.index.items(all, matching: nil).map(\.path)) == ["doc", "sub", "sub/meanwhile"])
            try drive.create("later")
            try await drive.index.settle()
            await live.settle()
            #expect(again.take().values.map { $0 } == [.added])
            live.stop(again)
        }
    }

    @Test("A query that meets the damage itself finds all in the new file", arguments: 0..<2)
    func queryMeetsDamage(running: Int) async throws {
        try await withDrive { drive in
            let live = LiveQueries(
                drive.index, transfers: { [:] }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try drive.create("doc", "one")
            for _ in 0..<running { _ = try await live.start(ItemQuery()) }
            // What readers have kept is of an earlier state then.
            try await drive.index.setValue("test", "1")
            try drive.damageIndex()
            let (query, found) = try await live.start(ItemQuery())
            #expect(found.count == 1)
            #expect(!query.isOutdated)
            _ = try await drive.rebuilt()
            try drive.create("later")
            try await drive.index.settle()
            await live.settle()
            #expect(query.take().values.map { $0 } == [.added])
        }
    }

    @Test("Damage that is not the index's leaves it as it is")
    func elsewhere() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            let id = try await drive.item("doc").id
            let error = await #expect(throws: IndexError.self) {
                try await drive.index.read("a test") { _ in throw IndexError.damaged(cause: "of something else") }
            }
            #expect(error?.code == .corrupt)
            #expect(try await drive.item("doc").id == id)
            #expect(drive.index.rebuild == nil)
        }
    }

    @Test("Damaged again and again, it stays so until the next start; events are kept")
    func again() async throws {
        try await withDrive { drive in
            for number in 1...3 {
                try await drive.forgetPages()
                try drive.damageIndex()
                try drive.create(RelativePath([try #require(FileName("file \(number)"))]))
                _ = try await drive.rebuilt(number)
                try await drive.index.waitUntilWhole()
            }
            try await drive.forgetPages()
            try drive.damageIndex()
            try drive.create("last")
            let error = await #expect(throws: IndexError.self) { try await drive.index.settle() }
            #expect(error?.message.contains("again and again") == true)
            drive.index.close()
            let next = try TestDrive(at: drive.directory)
            defer { next.index.close() }
            guard case .rebuilt = next.opening else { throw TestError("\(next.opening)") }
            _ = await next.rescan()
            #expect(try await next.index.counts().items == 4)
        }
    }
}
