import QuireCore
@testable import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Synchronization
import Testing

/// A home that was copied, or restored without all that was in it, while the daemon was stopped.
@Suite(.timeLimit(.minutes(1))) struct LostStoreTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    private func provided(_ path: RelativePath) -> String? {
        memory.contents(at: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A placeholder that was moved in a copy of the home is moved at the provider, with its content")
    func movedInCopy() async throws {
        memory.edit {
            $0.write("doc", "content")
            $0.write("other", "other content")
        }
        let device = try Device("one", provider: memory, clock: clock)
        #expect(await device.sync() == .settled)
        try device.renameUnseen("doc", "moved")
        try await device.metadata.write("a test") { try $0.run("UPDATE items SET inode = inode + 1000000000") }
        device.metadata.beginRescan()
        #expect(await device.restartedService(memory).syncNow(timeout: nil) == .settled)
        #expect(provided("doc") == nil)
        #expect(provided("moved") == "content")
        #expect(provided("other") == "other content")
        #expect(try await device.open("moved") == "content")
    }

    @Test(
        "What sync had just removed when the daemon died is not deleted at the provider that has it again",
        arguments: ["doc", "dir/doc"] as [RelativePath])
    func diedWhileRemoving(path: RelativePath) async throws {
        let memory = MemoryProvider(capabilities: MemoryProvider.plain)
        memory.edit { $0.write(path, "content") }
        let device = try Device("one", provider: memory, clock: clock)
        #expect(await device.sync() == .settled)
        let before = Lock<MemoryTree?>(nil)
        memory.edit { tree in
            before.withLock { [tree] in $0 = tree }
            tree.remove(path)
        }
        let sync = Lock<Task<SyncResult, Never>?>(nil)
        // From here on nothing is recorded any more.
        device.whenCommitting.set(device) {
            $0.metadata.close()
            sync.withLock { $0?.cancel() }
        }
        let task = sync.withLock { [service = device.service] sync in
            let task = Task { await service.syncNow(timeout: nil) }
            sync = task
            return task
        }
        #expect(await task.value != .settled)
        #expect(try device.tree.status(at: path) == nil)
        memory.edit { tree in before.withLock { if let before = $0 { tree = before } } }
        let next = try Device("one", provider: memory, clock: clock, existing: device.home)
        #expect(await next.sync() == .settled)
        #expect(memory.contents(at: path) == Array("content".utf8))
        #expect(try await next.open(path) == "content")
    }

    @Test("A new document in the place of one whose deletion is held is kept beside it, here and at the provider")
    func newInItsPlace() async throws {
        let device = try Device("one", provider: memory, clock: clock)
        let paths = (0..<12).map { RelativePath([FileName(unchecked: Array("d\($0)".utf8))]) }
        for path in paths { try device.write(path, "content of \(path)") }
        #expect(await device.sync() == .settled)
        for path in paths { try device.tree.remove(path) }
        device.metadata.beginRescan()
        let service = device.restartedService(memory)
        #expect(await service.syncNow(timeout: nil) == .unresolved(conflicts: [], errors: [], heldDeletions: 12))
        let report = await service.status().held
        #expect(report.map(\.isMissingHere) == [true] && report.map(\.providerName) == ["main"])
        #expect(report.map(\.count) == [12] && report.map(\.first.count) == [10])
        #expect(report.first.map { Set($0.first).isSubset(of: paths) } == true)
        clock.advance(.seconds(3600))
        try device.write("d0", "another document")
        clock.advance(.seconds(60))
        guard case .unresolved(let conflicts, let errors, let held) = await service.syncNow(timeout: nil) else {
            Issue.record("settled")
            return
        }
        #expect((conflicts.count, errors.count, held) == (1, 0, 11))
        #expect(try await device.open("d0") == "content of d0")
        #expect(provided("d0") == "content of d0")
        let copy = try #require(try device.listing().keys.first { $0 != "d0" })
        #expect(try device.text(copy) == "another document")
        #expect(provided(copy) == "another document")
    }

    @Test("A placeholder that was moved to another container is told of, and confirming leaves its content where it is")
    func movedToOtherContainer() async throws {
        memory.edit {
            $0.write("doc", "content")
            $0.write("gone", "what was deleted")
        }
        let device = try Device("one", provider: memory, clock: clock)
        let notes = try #require(ContainerID("org.example.notes"))
        device.metadata.setContainers(ContainerLayout([.init(notes, at: "Notes")]))
        try device.makeDirectory("Notes")
        #expect(await device.sync() == .settled)
        try device.renameUnseen("doc", "Notes/moved")
        try device.tree.remove("gone")
        device.metadata.beginRescan()
        let service = device.restartedService(memory)
        for isConfirmed in [false, true] {
            guard case .unresolved(_, let errors, let held) = await service.syncNow(timeout: nil) else {
                Issue.record("settled")
                return
            }
            #expect(errors.map(\.path) == ["Notes/moved"])
            #expect(errors.allSatisfy { $0.message.contains("doc") && $0.message.contains("--confirm-deletes") })
            #expect(held == (isConfirmed ? 1 : 2))
            #expect(provided("doc") == "content")
            #expect((provided("gone") == nil) == isConfirmed)
            if !isConfirmed { #expect(try await service.confirmDeletions() == 1) }
            clock.advance(.seconds(60))
        }
        try device.renameUnseen("Notes/moved", "doc")
        device.metadata.beginRescan()
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(try await device.open("doc") == "content")
    }

    @Test(
        "A placeholder of another container makes way for a document of its name; it is neither replaced nor opened as that"
    )
    func fromOtherContainer() async throws {
        memory.edit { $0.write("file", "of this container") }
        let device = try Device("one", provider: memory, clock: clock)
        try device.createUnseen("file", "of another one")
        let notes = try #require(ContainerID("org.example.notes"))
        let mark = Placeholder(version: ProviderVersion("v"), container: notes)
        try device.makeDataless("file", mark)
        device.metadata.beginRescan()
        await #expect(throws: MaterializeError.self) { try await device.open("file") }
        guard case .unresolved(_, let errors, _) = await device.sync() else {
            Issue.record("settled")
            return
        }
        let moved = try #require(try device.listing().keys.first { $0 != "file" })
        #expect(errors.map(\.path) == [moved])
        #expect(try await device.open("file") == "of this container")
        #expect(try Placeholder.mark(at: moved, in: device.tree) == .placeholder(mark))
        await #expect(throws: MaterializeError.self) { try await device.open(moved) }
    }
}
