import QuireCore
import QuireProviders
import Testing

@testable import QuireSync

/// What is left of a push in which a step was not carried out.
@Suite(.timeLimit(.minutes(2))) struct UndoneStepsTests {
    enum Obstacle: CaseIterable {
        /// The provider cannot move directories: each is made anew, and its content follows in the next round.
        case noDirectoryMoves
        case failure
    }

    enum Edit: CaseIterable { case sameContent, time, otherContent }

    @Test(
        "A document that leaves a directory whose own move was not done is not recorded as moved: it would be taken for deleted",
        arguments: Obstacle.allCases, Edit.allCases)
    func leaving(obstacle: Obstacle, edit: Edit) async throws {
        var capabilities = MemoryProvider.full
        capabilities.stableIdentifiers = false
        capabilities.directoryMoves = obstacle != .noDirectoryMoves
        capabilities.attributes = false
        let memory = MemoryProvider(capabilities: capabilities)
        let faulty = FaultyProvider(memory)
        let clock = TestClock()
        let device = try Device("one", provider: faulty, clock: clock, pushPart: 10)
        for directory in ["a", "c"] as [RelativePath] { try device.makeDirectory(directory) }
        try device.write("a/doc", "text")
        #expect(await device.sync() == .settled)
        if obstacle == .failure {
            faulty.inject(Fault(.move, .failBefore(ProviderError(.failed, "not now")), path: "a"))
        }
        try device.rename("a", "b")
        try device.rename("b/doc", "c/doc")
        switch edit {
        case .sameContent: try device.write("c/doc", "text")
        case .otherContent: try device.write("c/doc", "other")
        case .time: try device.touch("c/doc")
        }
        for _ in 0..<10 where await device.sync() != .settled { clock.advance(.seconds(60)) }
        let text = edit == .otherContent ? "other" : "text"
        #expect(try device.text("c/doc") == text)
        #expect(memory.contents(at: "c/doc") == Array(text.utf8))
        #expect(try Set(device.listing().keys) == ["b", "c", "c/doc"])
        #expect(Set(memory.items.map(\.path)) == ["b", "c", "c/doc"])
    }

    /// As object stores whose entity tags are not of the content: what is moved has another version.
    private struct Renewing: ForwardingProvider {
        let memory: MemoryProvider
        var inner: any DocumentProvider { memory }

        func move(
            _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
        ) async throws(ProviderError) -> RemoteItem {
            let moved = try await memory.move(path, to: destination, expecting: version)
            let content = memory.contents(at: destination) ?? []
            memory.edit { $0.write(destination, .file(content), mtime: moved.mtime) }
            guard let item = try await memory.item(at: destination) else {
                throw ProviderError(.notFound, "\(destination)")
            }
            return item
        }
    }

    @Test("What is recorded without a request has the version that a move before has given", arguments: Edit.allCases)
    func movedVersion(edit: Edit) async throws {
        var capabilities = MemoryProvider.full
        capabilities.attributes = false
        let memory = MemoryProvider(capabilities: capabilities)
        let clock = TestClock()
        let device = try Device("one", provider: Renewing(memory: memory), clock: clock, pushPart: 10)
        try device.write("doc", "text")
        #expect(await device.sync() == .settled)
        try device.rename("doc", "moved")
        switch edit {
        case .sameContent: try device.write("moved", "text")
        case .otherContent: try device.write("moved", "other")
        case .time: try device.touch("moved")
        }
        clock.advance(.seconds(60))
        let engine = try #require(device.service.engines.first)
        _ = await engine.round(isUrgent: true, pulls: false)
        try await device.index.settle()
        let item = try #require(try await device.index.items(drivePaths: ["moved"]).first)
        #expect(item.base?.path == "moved")
        #expect(item.base?.version == memory.items.first { $0.path == "moved" }?.version)
    }

    @Test(
        "A step waits for those about its item, for those that make its place, and for what is to leave what it deletes"
    )
    func waits() {
        var undone = UndoneSteps()
        let delete = PushOrder.Step.delete(item: 1, at: "d")
        #expect(!undone.holdUp(delete, at: ["d"]))
        undone.insert(.move(item: 0, from: "d/e/doc", to: "x/doc", isFinal: true), at: ["d/e/doc", "x/doc"])
        #expect(undone.holdUp(delete, at: ["d"]))
        #expect(undone.holdUp(.send(item: 0, at: "elsewhere", over: nil), at: ["elsewhere"]))
        #expect(undone.holdUp(.createDirectory(item: 2, at: "x/doc/sub"), at: ["x/doc/sub"]))
        #expect(!undone.holdUp(.send(item: 3, at: "d/other", over: nil), at: ["d/other"]))
        #expect(!undone.holdUp(.delete(item: 4, at: "y"), at: ["y"]))
    }
}
