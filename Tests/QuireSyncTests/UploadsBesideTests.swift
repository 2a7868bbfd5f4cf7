import Glibc
import QuireCore
import QuireProviders
import QuireStore
import Testing

@testable import QuireSync

/// A large upload goes on while everything else has its turn.
@Suite("Uploads beside the rounds", .timeLimit(.minutes(1)))
struct UploadsBesideTests {
    private let clock = TestClock()
    private let memory = MemoryProvider.announcing()
    private let faulty: FaultyProvider
    private let gate = Gate()
    private let large = String(repeating: "x", count: 1 << 21)

    init() { faulty = FaultyProvider(memory) }

    private func device(parallel: Int? = nil, pollInterval: Duration? = nil) async throws -> Device {
        let device = try Device("one", provider: faulty, clock: clock, parallel: parallel, pollInterval: pollInterval)
        #expect(await device.sync() == .settled)
        return device
    }

    /// Sends a large document, held on its way until the gate is opened, and has a round leave it to itself.
    private func begin(
        _ device: Device, _ path: RelativePath, _ effect: Fault.Effect? = nil
    ) async throws -> SyncEngine {
        let engine = try #require(device.service.engines.first)
        faulty.inject(Fault(.put, effect ?? .hold(gate), path: path))
        try device.write(path, large)
        clock.advance(.seconds(2))
        let pushing = Task { await engine.round(isUrgent: true, pulls: false) }
        await gate.waitForArrivals(1)
        try await engine.pullForReader(of: path)
        let report = await pushing.value
        #expect(report.push.beside == 1 && report.push.gaveWay && !report.isQuiet)
        return engine
    }

    private func round(_ engine: SyncEngine) async -> RoundReport {
        clock.advance(.seconds(2))
        return await engine.round(isUrgent: true, pulls: true)
    }

    @Test("What others did comes, and what is small goes, while something large is on its way")
    func beside() async throws {
        let device = try await device()
        memory.edit { $0.write("theirs", "content") }
        let engine = try await begin(device, "large")
        #expect(try device.listing().keys.contains("theirs"))
        try device.write("small", "text")
        memory.edit { $0.write("again", "content") }
        let report = await round(engine)
        #expect(report.push.sent == 1 && report.push.beside == 1 && report.pull?.isDone == true)
        #expect(memory.contents(at: "small") != nil && memory.contents(at: "large") == nil)
        #expect(try device.listing().keys.contains("again"))
        gate.open()
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "large") == Array(large.utf8) && faulty.count(.put) == 2)
    }

    @Test("It is left to itself when it is time to look at the provider")
    func polled() async throws {
        let device = try await device(pollInterval: .seconds(4))
        let engine = try #require(device.service.engines.first)
        faulty.inject(Fault(.put, .hold(gate), path: "large"))
        try device.write("large", large)
        memory.edit { $0.write("theirs", "content") }
        clock.advance(.seconds(2))
        let report = await engine.round(isUrgent: false, pulls: false)
        #expect(report.push.beside == 1 && report.pull?.isDone == true)
        #expect(try device.listing().keys.contains("theirs"))
        gate.open()
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "large") != nil)
    }

    @Test("As many at one time as there may be, and what is small beside them")
    func places() async throws {
        let device = try await device(parallel: 1)
        let engine = try await begin(device, "large")
        try device.write("other", large)
        clock.advance(.milliseconds(10))
        try device.write("small", "text")
        let report = await round(engine)
        #expect(report.push.sent == 1 && report.push.waiting == 1 && !report.push.gaveWay)
        #expect(memory.contents(at: "small") != nil && faulty.count(.put) == 2)
        gate.open()
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "other") != nil)
    }

    @Test("Others are told of it when it has arrived")
    func told() async throws {
        let device = try await device()
        let engine = try await begin(device, "large")
        try device.write("small", "text")
        _ = await round(engine)
        #expect(told() == ["small"])
        gate.open()
        #expect(await device.sync() == .settled)
        #expect(told() == ["small", "large"])
    }

    private func told() -> Set<RelativePath> {
        memory.operations.reduce(into: []) { told, operation in
            guard case .announce(let changes) = operation else { return }
            told.formUnion(changes?.map(\.path) ?? ["*"])
        }
    }

    enum Change: CaseIterable {
        case moved, removed, replaced
    }

    @Test("What becomes of its directory at the provider waits for its end", arguments: Change.allCases)
    func directory(change: Change) async throws {
        memory.edit { tree in
            tree.write("d", .directory)
            tree.write("d/doc", "content")
        }
        let device = try await device()
        let engine = try await begin(device, "d/large")
        memory.edit { tree in
            switch change {
            case .moved: tree.move("d", to: "e")
            case .removed: tree.remove("d")
            case .replaced:
                tree.remove("d")
                tree.write("d", "a document")
            }
            tree.write("theirs", "content")
        }
        let report = await round(engine)
        #expect(report.pull?.isDone == false && report.pull?.left == 0)
        #expect(try device.listing().keys.contains("theirs"))
        #expect(try device.text("d/large") == String(large.prefix(1 << 16)))
        gate.open()
        let result = await device.sync()
        let names = Set(try device.listing().keys)
        switch change {
        case .moved: #expect(result == .settled && names == ["e", "e/doc", "e/large", "theirs"])
        // Edited here, it is kept with its directory.
        case .removed: #expect(result == .settled && names == ["d", "d/large", "theirs"])
        case .replaced:
            guard case .unresolved(let conflicts, [], 0) = result else { throw UnexpectedResult(result: result) }
            #expect(conflicts.count == 1 && names.contains("d") && memory.contents(at: "d") == Array("a document".utf8))
        }
        let sent = names.filter { $0.name == "large" }
        #expect(sent.count == 1 && sent.allSatisfy { memory.contents(at: $0) == Array(large.utf8) })
        #expect(try await device.pending().isEmpty)
    }

    struct UnexpectedResult: Error {
        let result: SyncResult
    }

    @Test("Another device's version of it becomes a conflict, as ever")
    func conflict() async throws {
        memory.edit { $0.write("large", "content") }
        let device = try await device()
        _ = try await device.open("large")
        let engine = try await begin(device, "large")
        memory.edit { $0.write("large", "theirs") }
        #expect(await round(engine).pull?.isDone == false)
        gate.open()
        let result = await device.sync()
        guard case .unresolved(let conflicts, [], 0) = result else { throw UnexpectedResult(result: result) }
        #expect(conflicts.count == 1 && memory.contents(at: "large") == Array("theirs".utf8))
    }

    @Test("What is held stays held where an upload is in the way")
    func held() async throws {
        memory.edit { $0.write("d", .directory) }
        let feed = FeedProvider(memory, through: faulty)
        let device = try Device("one", provider: feed, clock: clock)
        #expect(await device.sync() == .settled)
        let documents: [RelativePath] = ["d/1", "d/2", "d/3"]
        for path in documents { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        clock.advance(.seconds(7200))
        memory.edit { tree in for path in documents { tree.remove(path) } }
        feed.setBack()
        _ = await device.sync()
        #expect(await device.service.status().heldDeletions == 3)
        let engine = try await begin(device, "d/large")
        memory.edit { $0.move("d", to: "e") }
        feed.expectListing()
        #expect(await round(engine).pull?.isDone == false)
        #expect(await device.service.status().heldDeletions == 3)
        gate.open()
        feed.expectListing()
        _ = await device.sync()
        feed.expectListing()
        _ = await device.sync()
        #expect(await device.service.status().heldDeletions == 3)
        let names = Set(try device.listing().keys.compactMap(\.name))
        #expect(names.isSuperset(of: documents.compactMap(\.name)))
    }

    @Test("What a listing told while it was in the way is asked for again when it has ended")
    func toldAgain() async throws {
        memory.edit { tree in
            tree.write("d", .directory)
            tree.write("d/doc", "content")
        }
        let feed = FeedProvider(memory, through: faulty)
        let device = try Device("one", provider: feed, clock: clock)
        #expect(await device.sync() == .settled)
        let engine = try await begin(device, "d/large")
        memory.edit { $0.move("d", to: "e") }
        feed.expectListing()
        #expect(await round(engine).pull?.isDone == false)
        gate.open()
        while !engine.context.transfers.current.isEmpty { await Task.yield() }
        for _ in 0..<10 { _ = await round(engine) }
        #expect(try Set(device.listing().keys) == ["e", "e/doc", "e/large"])
    }

    @Test("One that met another version is not sent again before that has been looked at")
    func conflictFirst() async throws {
        memory.edit { $0.write("large", "content") }
        let device = try await device()
        _ = try await device.open("large")
        let engine = try await begin(device, "large")
        memory.edit { $0.write("large", "theirs") }
        let later = Gate()
        faulty.inject(Fault(.put, .hold(later), path: "large", times: nil))
        gate.open()
        while !engine.context.transfers.current.isEmpty { await Task.yield() }
        let report = await round(engine)
        #expect(report.push.needsLook && report.pull?.isDone == true && faulty.count(.put) == 1)
        #expect(memory.contents(at: "large") == Array("theirs".utf8))
        #expect(await device.service.status().conflicts.count == 1)
        later.open()
    }

    @Test("One that a pause broke off after it had arrived is found, whatever it is called by then")
    func pausedLate() async throws {
        let device = try await device()
        _ = try await begin(device, "large", .holdAnswer(gate))
        try await device.service.pause(until: .never)
        while !device.service.transfers.current.isEmpty { await Task.yield() }
        try device.rename("large", "other")
        try await device.service.resume()
        #expect(await device.sync() == .settled)
        #expect(memory.items.map(\.path) == ["other"] && faulty.count(.put) == 1)
    }

    enum Edit: CaseIterable {
        case written, removed, renamed, directoryRenamed, directoryRemoved
    }

    @Test("What becomes of it here meanwhile is sent afterwards", arguments: Edit.allCases, [true, false])
    func edited(edit: Edit, isNew: Bool) async throws {
        memory.edit { tree in
            tree.write("d", .directory)
            if !isNew { tree.write("d/large", "content") }
        }
        let device = try await device()
        if !isNew { _ = try await device.open("d/large") }
        let engine = try await begin(device, "d/large")
        switch edit {
        case .written: try device.write("d/large", "again")
        case .removed: try device.remove("d/large")
        case .renamed: try device.rename("d/large", "other")
        case .directoryRenamed: try device.rename("d", "e")
        case .directoryRemoved: try device.remove("d")
        }
        let moves = (faulty.count(.move), faulty.count(.delete), faulty.count(.put))
        _ = await round(engine)
        #expect((faulty.count(.move), faulty.count(.delete), faulty.count(.put)) == moves)
        gate.open()
        #expect(await device.sync() == .settled)
        let content = Array(large.utf8)
        switch edit {
        case .written: #expect(memory.contents(at: "d/large") == Array("again".utf8))
        case .removed: #expect(memory.contents(at: "d/large") == nil)
        case .renamed: #expect(memory.contents(at: "other") == content && memory.contents(at: "d/large") == nil)
        case .directoryRenamed: #expect(memory.contents(at: "e/large") == content)
        case .directoryRemoved: #expect(memory.contents(at: "d/large") == nil)
        }
        #expect(try await device.pending().isEmpty)
    }

    @Test("Nobody asks whether it has arrived before it has ended")
    func answer() async throws {
        let device = try await device()
        let engine = try await begin(device, "large", .holdAnswer(gate))
        let looks = faulty.count(.item)
        let report = await round(engine)
        #expect(report.answersFound == 0 && report.push.beside == 1 && faulty.count(.item) == looks)
        gate.open()
        #expect(await device.sync() == .settled)
        #expect(faulty.count(.put) == 1 && memory.contents(at: "large") != nil)
    }

    @Test("One that fails is told of, and tried again")
    func failed() async throws {
        let device = try await device()
        let engine = try await begin(device, "large")
        faulty.isAvailable = false
        gate.open()
        while engine.context.transfers.current.count > 0 { await Task.yield() }
        #expect(await round(engine).offline != nil)
        faulty.isAvailable = true
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "large") != nil)
    }

    @Test("A pause breaks it off, and it is made afterwards")
    func paused() async throws {
        let device = try await device()
        _ = try await begin(device, "large")
        try await device.service.pause(until: .never)
        #expect(await device.sync() == .paused(until: .never, pending: 1))
        while !device.service.transfers.current.isEmpty { await Task.yield() }
        try await device.service.resume()
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "large") != nil)
    }

    @Test("It ends before other providers begin, and before the engine has")
    func replaced() async throws {
        let device = try await device()
        _ = try await begin(device, "large")
        let service = device.service
        try await service.replaceContainers(service.containers) {
            #expect(service.transfers.current.isEmpty)
        }
        let again = Gate()
        faulty.inject(Fault(.put, .hold(again), path: "large"))
        let running = Task { await service.run() }
        await again.waitForArrivals(1)
        running.cancel()
        await running.value
        #expect(service.transfers.current.isEmpty)
        #expect(await device.sync() == .settled)
    }

    @Test("Who waits for everything to be sent waits for it, and for what changed meanwhile")
    func asked() async throws {
        let device = try await device()
        _ = try await begin(device, "large")
        try device.write("small", "text")
        let service = device.service
        let syncing = Task { await service.syncNow(timeout: nil) }
        while memory.contents(at: "small") == nil { await Task.yield() }
        #expect(memory.contents(at: "large") == nil)
        gate.open()
        #expect(await syncing.value == .settled)
        #expect(memory.contents(at: "large") != nil)
    }
}
