import Foundation
import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// Items that change places on one device, and what of it comes to the other.
@Suite(.timeLimit(.minutes(2))) struct MovesBetweenDevicesTests {
    let clock = TestClock()
    let provider = MemoryProvider()

    private func devices() throws -> (Device, Device) {
        (try Device("one", provider: provider, clock: clock), try Device("two", provider: provider, clock: clock))
    }

    @Test("Renaming a directory is one call to the provider and no transfer")
    func renameDirectory() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("d")
        for number in 0..<5 { try one.write(RelativePath(["d", FileName("\(number)") ?? "x"]), "\(number)") }
        await one.sync()
        await two.sync()
        _ = try await two.open("d/3")
        provider.clearOperations()
        try one.rename("d", "e")
        #expect(await one.sync() == .settled)
        #expect(provider.operations.filter { $0 != .changes } == [.move("d", to: "e")])
        #expect(await two.sync() == .settled)
        #expect(try two.text("e/3") == "3")
        #expect(try two.listing() == one.listing())
    }

    @Test("What was moved there and rewritten with as many bytes in the same second is fetched anew")
    func movedAndRewritten() async throws {
        let device = try Device("one", provider: provider, clock: clock)
        let time = FileTime(nanoseconds: 1_700_000_000_000_000_000)
        provider.edit { $0.write("a", .file(Array("first".utf8)), mtime: time) }
        await device.sync()
        #expect(try await device.open("a") == "first")
        provider.edit {
            $0.move("a", to: "b")
            $0.write("b", .file(Array("other".utf8)), mtime: time)
        }
        #expect(await device.sync() == .settled)
        #expect(try await device.open("b") == "other")
    }

    @Test(
        "A directory deleted there and kept here, for what is new in it, loses what was deleted, though some is in use for a time"
    )
    func deletedAroundOwn() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("d")
        for path in ["d/x", "d/y"] as [RelativePath] { try one.write(path, "\(path)") }
        await one.sync()
        await two.sync()
        #expect(try await two.open("d/x") == "d/x")
        try two.rename("d", "e")
        try two.write("e/new", "own")
        for path in ["d/x", "d/y", "d"] as [RelativePath] { try one.remove(path) }
        await one.sync()
        let inode = try two.tree.requiredStatus(at: "e/x").inode
        two.openForWriting.insert(inode)
        let engine = try #require(two.service.engines.first)
        for _ in 0..<2 { _ = await engine.round(isUrgent: true, pulls: true) }
        #expect(try two.text("e/x") == "d/x")
        two.openForWriting.removeAll()
        clock.advance(.seconds(60))
        #expect(await two.sync() == .settled)
        #expect(try Set(two.listing().keys) == ["e", "e/new"])
        #expect(await one.sync() == .settled)
        #expect(try Set(one.listing().keys) == ["e", "e/new"])
    }

    @Test(
        "What one device put away under a name that is not uploaded and another edited meanwhile stays, edited, at its place"
    )
    func editedWhilePutAway() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("d")
        try one.write("d/doc", "first")
        await one.sync()
        await two.sync()
        #expect(try await two.open("d/doc") == "first")
        try one.write("d/doc", "edited")
        await one.sync()
        try two.makeDirectory(".Trash-0")
        try two.rename("d/doc", ".Trash-0/doc")
        #expect(await two.sync() == .settled)
        #expect(try await two.open("d/doc") == "edited")
        #expect(try two.text(".Trash-0/doc") == "first")
        #expect(await one.sync() == .settled)
        #expect(try Set(one.listing().keys) == ["d", "d/doc"])
    }

    @Test("A directory takes another's place, and what lay in that one", arguments: [false, true])
    func takesPlace(isUsed: Bool) async throws {
        let (one, two) = try devices()
        for path in ["d", "d/a", "d/a/f", "x"] as [RelativePath] { try one.makeDirectory(path) }
        for path in ["d/a/f/doc", "x/own"] as [RelativePath] { try one.write(path, "\(path)") }
        await one.sync()
        await two.sync()
        try one.rename("d/a/f", "x/f")
        try one.remove("d/a")
        try one.rename("x", "d/a")
        #expect(await one.sync() == .settled)
        if isUsed { try two.write("d/a/new", "new") }
        #expect(await two.sync() == .settled)
        #expect(try await two.open("d/a/f/doc") == "d/a/f/doc")
        #expect(try await two.open("d/a/own") == "x/own")
        let there: Set<RelativePath> = ["d", "d/a", "d/a/f", "d/a/f/doc", "d/a/own"]
        #expect(try Set(two.listing().keys) == (isUsed ? there.union(["d/a/new"]) : there))
        #expect(await one.sync() == .settled)
        #expect(try Set(one.listing().keys) == Set(two.listing().keys))
    }

    @Test("Where the provider cannot move directories, one is made anew and what lies in it moved piece by piece")
    func renameDirectoryByPieces() async throws {
        let plain = MemoryProvider(capabilities: MemoryProvider.plain)
        let one = try Device("one", provider: plain, clock: clock)
        let two = try Device("two", provider: plain, clock: clock)
        for path in ["d", "d/inner", "d/inner/deep", "d/empty"] as [RelativePath] { try one.makeDirectory(path) }
        for path in ["d/a", "d/inner/b", "d/inner/deep/c"] as [RelativePath] { try one.write(path, "\(path)") }
        await one.sync()
        await two.sync()
        _ = try await two.open("d/inner/b")
        plain.clearOperations()
        try one.rename("d", "e")
        try one.write("e/a", "edited")
        #expect(await one.sync() == .settled)
        #expect(
            Set(plain.items.map(\.path)) == [
                "e", "e/a", "e/inner", "e/inner/b", "e/inner/deep", "e/inner/deep/c", "e/empty",
            ])
        // Sent is what was edited, not what was moved.
        #expect(plain.operations.filter { if case .put = $0 { true } else { false } } == [.put("e/a")])
        #expect(await two.sync() == .settled)
        #expect(try await two.open("e/inner/deep/c") == "d/inner/deep/c")
        #expect(try await two.open("e/a") == "edited")
        // Which has no attributes for the other device.
        #expect(try Set(two.listing().keys) == Set(one.listing().keys))
    }

    @Test("Files that swapped names on one device swap on the other")
    func swap() async throws {
        let (one, two) = try devices()
        try one.write("a", "A")
        try one.write("b", "B")
        await one.sync()
        await two.sync()
        clock.advance(.seconds(20))
        try one.rename("a", "c")
        clock.advance(.seconds(20))
        try one.rename("b", "a")
        clock.advance(.seconds(20))
        try one.rename("c", "b")
        clock.advance(.seconds(20))
        await one.sync()
        await two.sync()
        #expect(try await two.open("a") == "B")
        #expect(try await two.open("b") == "A")
    }

    @Test(
        "A directory that went into the one that took its name arrives there, with what changed places in both",
        arguments: [false, true], [false, true])
    func placeTakenByOwnDirectory(changesEntries: Bool, isNew: Bool) async throws {
        let (one, two) = try devices()
        try one.makeDirectory("projects")
        if isNew { await one.sync() }
        try one.makeDirectory("new")
        try one.write("projects/a", "a")
        try one.write("new/b", "b")
        if !isNew { await one.sync() }
        await two.sync()
        try one.rename("projects", "aside")
        try one.rename("new", "projects")
        try one.rename("aside", "projects/old")
        if changesEntries {
            try one.rename("projects/old/a", "projects/a")
            try one.rename("projects/b", "projects/old/b")
        }
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        #expect(try two.listing() == one.listing())
        #expect(try two.tree.status(at: changesEntries ? "projects/old/b" : "projects/old/a") != nil)
    }

    @Test("A directory comes where something else lies in its place, with what was moved into it")
    func placeOfDirectoryTaken() async throws {
        let (one, two) = try devices()
        try one.write("f", "text")
        try one.write("g", "other")
        await one.sync()
        await two.sync()
        try one.makeDirectory("e")
        try one.rename("f", "e/f")
        try two.write("e", "of two")
        #expect(await one.sync() == .settled)
        guard case .unresolved(let conflicts, let errors, 0) = await two.sync() else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.count == 1 && errors.isEmpty)
        await one.sync()
        #expect(try two.listing() == one.listing())
        #expect(try two.tree.status(at: "e/f") != nil)
    }

    @Test("What is in the place of a moved item goes aside also where the user was told of it already")
    func occupiedForLong() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("d")
        try one.write("d/f", "text")
        await one.sync()
        await two.sync()
        try one.rename("d", "b")
        #expect(await one.sync() == .settled)
        try two.write("b", "of two")
        // As while a program kept it busy.
        let item = try #require(try await two.index.item(drivePath: "d"))
        let retries = try #require(two.service.engines.first).context.retries
        for _ in 0..<100 { _ = retries.puzzled(.item(item.entry.id)) }
        guard case .unresolved(let conflicts, let errors, 0) = await two.sync() else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.count == 1 && errors.isEmpty)
        #expect(try two.tree.status(at: "b/f") != nil)
    }

    @Test("Of two directories that two devices put into each other, the first move at the provider counts")
    func movesIntoEachOther() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("a")
        try one.makeDirectory("b")
        try one.makeDirectory("b/in")
        try one.write("a/1", "1")
        try one.write("b/2", "2")
        await one.sync()
        await two.sync()
        try one.rename("a", "b/in/a")
        try two.rename("b", "a/b")
        try two.write("a/b/in/3", "3")
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        #expect(await one.sync() == .settled)
        #expect(try two.listing() == one.listing())
        for path: RelativePath in ["b/in/a/1", "b/2", "b/in/3"] { #expect(try two.tree.status(at: path) != nil) }
    }

    @Test("regression: a move that somebody undid at the provider before this device looked is undone here")
    func undoneMove() async throws {
        let root = "/tmp/quire-undone-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let one = try Device("one", provider: FolderProvider(root: root), clock: clock)
        try one.makeDirectory("a")
        #expect(await one.sync() == .settled)
        let engine = try #require(one.service.engines.first)
        _ = await engine.round(isUrgent: true, pulls: true)
        try one.rename("a", "b")
        clock.advance(.seconds(20))
        #expect(await engine.round(isUrgent: true, pulls: false).push.sent == 1)
        #expect(rename("\(root)/b", "\(root)/a") == 0)
        #expect(await one.sync() == .settled)
        #expect(try Array(one.listing().keys) == ["a"])
    }

    @Test("regression: a file in the place of a directory that was removed arrives, and sync ends")
    func fileInPlaceOfDirectory() async throws {
        let (one, two) = try devices()
        for path in ["a", "a/b", "a/b/c"] as [RelativePath] { try one.makeDirectory(path) }
        try one.write("a/b/c/f1", "1")
        await one.sync()
        await two.sync()
        _ = try await two.open("a/b/c/f1")
        try one.remove("a")
        try one.makeDirectory("a")
        try one.write("a/b", "again")
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        #expect(try two.listing() == one.listing())
    }
}
