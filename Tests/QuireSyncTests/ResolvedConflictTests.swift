import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// What happens to documents while their conflict is brought to an end.
@Suite(.timeLimit(.minutes(1))) struct ResolvedConflictTests {
    let clock = TestClock()
    let provider = MemoryProvider()

    /// A device with a document, "from one", and a conflict copy of it, "from two"; all of it is here.
    private func conflict(_ document: RelativePath = "a") async throws -> (device: Device, copy: RelativePath) {
        let one = try Device("one", provider: provider, clock: clock)
        let two = try Device("two", provider: provider, clock: clock)
        try one.write(document, "base")
        await one.sync()
        await two.sync()
        _ = try await two.open(document)
        try one.write(document, "from one")
        try two.write(document, "from two")
        await one.sync()
        guard case .unresolved(let conflicts, _, _) = await two.sync(), let copy = conflicts.first else {
            throw QuireError(.failed, "no conflict")
        }
        #expect(try await two.open(document) == "from one" && two.text(copy) == "from two")
        return (two, copy)
    }

    private func versions(_ device: Device) throws -> [String] {
        let kept = device.home.keptVersions
        return try kept.items().flatMap(kept.list).map { version in
            Device.text(of: try OwnedDescriptor.open(version.path, 0))
        }
    }

    private func isBusy(_ device: Device, _ copy: RelativePath, keep choice: ConflictChoice) async -> Bool {
        do throws(QuireError) { try await device.service.resolveConflict(copy, keep: choice) } catch {
            return error.code == .busy
        }
        return false
    }

    @Test("What is saved into a conflict copy once its content was kept is not lost")
    func savedIntoRemovedCopy() async throws {
        let (device, copy) = try await conflict()
        device.whenKept.set(device) { try $0.write(copy, "saved") }
        #expect(await isBusy(device, copy, keep: .original))
        #expect(try device.text(copy) == "saved" && device.text("a") == "from one")
        // What nothing was done about needs no version.
        #expect(try versions(device).isEmpty)
        try await device.service.resolveConflict(copy, keep: .original)
        #expect(try device.text(copy) == nil && device.text("a") == "from one" && versions(device) == ["saved"])
        #expect(await device.sync() == .settled)
    }

    @Test("The losing version stays with the document, wherever that goes")
    func movedAfterwards() async throws {
        let (device, copy) = try await conflict()
        let document = try #require(try await device.index.item(drivePath: "a")).entry.id
        try await device.service.resolveConflict(copy, keep: .original)
        #expect(try device.home.keptVersions.list(document).map(\.origin) == [copy])
    }

    @Test("What is saved into a conflict copy while it becomes the document is not lost")
    func savedIntoWinningCopy() async throws {
        let (device, copy) = try await conflict()
        device.whenCommitting.set(device) { try $0.write(copy, "saved") }
        #expect(await isBusy(device, copy, keep: .copy))
        #expect(try device.text(copy) == "saved" && versions(device) == ["from one"])
        // The document was replaced just now: it proves nothing for two ticks.
        clock.advance(.seconds(1))
        try await device.service.resolveConflict(copy, keep: .copy)
        #expect(try device.text("a") == "saved" && device.text(copy) == nil)
        #expect(try versions(device) == ["from one", "from two"])
        #expect(await device.sync() == .settled)
        #expect(provider.contents(at: "a") == Array("saved".utf8))
    }

    @Test("A copy whose name does not say which document it is of does not become another; the document can stay")
    func cutName() async throws {
        let name = String(repeating: "n", count: 240) + ".txt"
        let document = try #require(RelativePath(parsing: name))
        let (device, copy) = try await conflict(document)
        #expect(copy.isConflictCopy(of: document) && copy.documentOfConflict != document)
        await #expect(throws: QuireError.self) { try await device.service.resolveConflict(copy, keep: .copy) }
        #expect(try device.text(copy) == "from two" && device.text(document) == "from one")
        #expect(try Set(device.listing().keys) == [copy, document])
        try await device.service.resolveConflict(copy, keep: .original)
        #expect(try device.text(copy) == nil && device.text(document) == "from one" && versions(device) == ["from two"])
    }

    @Test("What is saved into a document once its content was kept is not replaced by a conflict copy")
    func savedIntoDocument() async throws {
        let (device, copy) = try await conflict()
        device.whenKept.set(device) { try $0.write("a", "saved") }
        #expect(await isBusy(device, copy, keep: .copy))
        #expect(try device.text("a") == "saved" && device.text(copy) == "from two" && versions(device).isEmpty)
    }

    @Test(
        "A document whose content just went is not destroyed by the end of its conflict",
        arguments: [ConflictChoice.original, .copy])
    func dataless(choice: ConflictChoice) async throws {
        let (device, copy) = try await conflict()
        let goes = choice == .original ? copy : "a"
        try device.makeDataless(goes)
        #expect(await isBusy(device, copy, keep: choice))
        #expect(try device.isDataless(goes) && device.tree.status(at: copy) != nil && versions(device).isEmpty)
    }

    @Test(
        "A conflict whose copy is in use stays, and no version is made at each try",
        arguments: [ConflictChoice.original, .copy])
    func inUse(choice: ConflictChoice) async throws {
        let (device, copy) = try await conflict()
        device.openForWriting.insert(try device.tree.requiredStatus(at: copy).inode)
        for _ in 0..<3 { #expect(await isBusy(device, copy, keep: choice)) }
        #expect(try device.text(copy) == "from two" && device.text("a") == "from one" && versions(device).isEmpty)
    }
}
