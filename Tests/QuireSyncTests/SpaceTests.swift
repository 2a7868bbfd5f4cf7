import Glibc
import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
import Synchronization
import Testing

@testable import QuireSync

@Suite(.timeLimit(.minutes(1))) struct SpaceTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    private func device(_ limit: Int64) throws -> Device {
        try Device("one", provider: memory, clock: clock, limits: SpaceLimits(limit: ByteCount(limit)))
    }

    private func materialize(_ device: Device, _ path: RelativePath) async -> Int32? {
        do {
            try await device.service.materialize(path: path, inode: try device.tree.requiredStatus(at: path).inode)
            return nil
        } catch let error as MaterializeError {
            return error.errno
        } catch {
            return EIO
        }
    }

    /// Sets when a file was last used, in hours ago.
    private func used(_ device: Device, _ path: RelativePath, hours: Int) throws {
        let status = try device.tree.requiredStatus(at: path)
        let used = timespec(tv_sec: time(nil) - hours * 3600, tv_nsec: 0)
        let written = timespec(tv_sec: status.mtime.seconds, tv_nsec: status.mtime.subsecondNanoseconds)
        #expect(utimensat(AT_FDCWD, "\(device.home.storePath)/\(path)", [used, written], 0) == 0)
        device.index.record(.attributesChanged(try device.tree.requiredStatus(at: path), writersOpen: false))
    }

    @Test("Beyond the limit the least recently used go, down to nine tenths of it; the rest stays")
    func leastRecentlyUsed() async throws {
        let device = try device(1000)
        for name in ["a", "b", "c", "d"] as [RelativePath] {
            try device.write(name, String(repeating: "x", count: 300))
        }
        #expect(await device.sync() == .settled)
        for (hours, name) in (["d", "b", "a", "c"] as [RelativePath]).enumerated() {
            try used(device, name, hours: hours + 1)
        }
        await device.service.space.look()
        #expect(try device.isDataless("c"))
        for name in ["a", "b", "d"] as [RelativePath] { #expect(try !device.isDataless(name)) }
        let report = try #require(await device.service.spaceReport())
        #expect(report.used == ByteCount(900))
        #expect(report.left == ByteCount(1000))
    }

    @Test("What the provider has left is told, less what waits; one without a limit has none")
    func quota() async throws {
        let full = MemoryProvider(quota: ByteCount(1000))
        let device = try Device("one", provider: full, clock: clock)
        #expect(device.room.providerLeft == nil)
        try device.write("a", String(repeating: "x", count: 300))
        #expect(await device.sync() == .settled)
        #expect(device.room.providerLeft == 700)
        // It does not fit, and waits.
        try device.write("b", String(repeating: "y", count: 2000))
        _ = await device.sync()
        #expect(device.room.providerLeft == 0)
        try device.remove("b")
        #expect(await device.sync() == .settled)
        #expect(device.room.providerLeft == 700)
        let other = try Device("two", provider: memory, clock: clock)
        try other.write("a", "one")
        #expect(await other.sync() == .settled)
        #expect(other.room.providerLeft == nil)
    }

    @Test("What is not uploaded, pinned or open stays, however far beyond the limit the drive is")
    func stays() async throws {
        let device = try device(100)
        for name in ["clean", "pinned", "open"] as [RelativePath] {
            try device.write(name, String(repeating: "x", count: 300))
        }
        #expect(await device.sync() == .settled)
        try await device.service.pin("pinned")
        device.openForWriting.insert(try device.tree.requiredStatus(at: "open").inode)
        try device.write("dirty", String(repeating: "y", count: 300))
        await device.service.space.look()
        #expect(try device.isDataless("clean"))
        for name in ["pinned", "open", "dirty"] as [RelativePath] { #expect(try !device.isDataless(name)) }
        #expect(device.room.isFull)
        #expect(!device.room.take(1))
    }

    @Test("The room for writers is the limit less what cannot go, and comes back with the upload")
    func roomForWriters() async throws {
        let device = try device(1000)
        try device.write("dirty", String(repeating: "y", count: 1000))
        await device.service.space.look()
        #expect(device.room.isFull)
        #expect(await device.sync() == .settled)
        await device.service.space.look()
        // The document has to go first.
        #expect(!device.room.take(1) && !device.room.isFull)
        await device.room.lookAgain(for: 1000)
        #expect(try device.isDataless("dirty"))
        #expect(device.room.take(1000))
        #expect(!device.room.take(1))
    }

    @Test("Room for a download is made first; what fits in no way is refused with ENOSPC, and told until it would fit")
    func downloads() async throws {
        let device = try device(1000)
        memory.edit {
            $0.write("small", String(repeating: "s", count: 400))
            $0.write("large", String(repeating: "l", count: 1001))
        }
        try device.write("mine", String(repeating: "m", count: 700))
        #expect(await device.sync() == .settled)
        #expect(await materialize(device, "large") == ENOSPC)
        #expect(try device.isDataless("large"))
        #expect(try !device.isDataless("mine"))
        #expect(await device.service.spaceReport()?.refused.map(\.path) == ["large"])
        #expect(await materialize(device, "small") == nil)
        #expect(try device.text("small")?.count == 400)
        #expect(try device.isDataless("mine"))
        memory.edit { $0.write("large", "l") }
        #expect(await device.sync() == .settled)
        #expect(await materialize(device, "large") == nil)
        #expect(await device.service.spaceReport()?.refused.isEmpty == true)
    }

    @Test("For what a program cannot write, whatever goes, nothing goes")
    func tooMuch() async throws {
        let device = try device(1000)
        try device.write("mine", String(repeating: "m", count: 700))
        #expect(await device.sync() == .settled)
        await device.service.space.look()
        await device.room.lookAgain(for: 1001)
        #expect(!device.room.take(1001))
        #expect(try !device.isDataless("mine"))
        await device.room.lookAgain(for: 1000)
        #expect(device.room.take(1000))
        #expect(try device.isDataless("mine"))
    }

    @Test("A document that changed at the provider is not refreshed beyond the limit: it becomes a placeholder")
    func refresh() async throws {
        let device = try device(1000)
        try device.write("doc", "small")
        #expect(await device.sync() == .settled)
        memory.edit { $0.write("doc", String(repeating: "x", count: 2000)) }
        #expect(await device.sync() == .settled)
        #expect(try device.isDataless("doc"))
        #expect(try device.tree.requiredStatus(at: "doc").size == 2000)
    }

    @Test("What is missing at the provider is no room that can be made, after a restart neither")
    func missing() async throws {
        let device = try device(1000)
        let names = (0..<12).map { RelativePath(stringLiteral: "d\($0)") }
        for name in names { try device.write(name, String(repeating: "x", count: 50)) }
        #expect(await device.sync() == .settled)
        memory.edit { tree in for name in names { tree.remove(name) } }
        let restarted = device.restartedService(memory)
        #expect(await device.sync() != .settled)
        #expect(await device.service.status().heldDeletions == 12)
        for service in [device.service, restarted] {
            try await service.space.admit(ByteCount(400), for: "other")
            await #expect(throws: SyncFailure.self) { try await service.space.admit(ByteCount(500), for: "other") }
        }
        _ = await restarted.syncNow(timeout: nil)
        await #expect(throws: SyncFailure.self) { try await restarted.space.admit(ByteCount(500), for: "other") }
        #expect(try await restarted.confirmDeletions() == 12)
        #expect(await restarted.syncNow(timeout: nil) == .settled)
        try await restarted.space.admit(ByteCount(500), for: "other")
    }

    @Test("The content of what comes into a pinned directory comes by itself")
    func pinnedDirectory() async throws {
        let device = try Device("one", provider: memory, clock: clock)
        memory.edit { $0.write("kept/old", "old") }
        #expect(await device.sync() == .settled)
        try await device.service.pin("kept")
        #expect(try device.text("kept/old") == "old")
        let service = device.service
        let running = Task { await service.run() }
        memory.edit { $0.write("kept/new", "new") }
        while try device.tree.status(at: "kept/new") == nil || device.isDataless("kept/new") {
            clock.advance(.seconds(1))
            service.wake()
            await Task.yield()
        }
        #expect(try device.text("kept/new") == "new")
        running.cancel()
        await running.value
    }

    /// A device with placeholders in a pinned directory, of which nobody has tried to bring one.
    private func device(pinned count: Int) async throws -> (Device, PinnedContent, PauseSwitch) {
        memory.edit { $0.write("kept/first", "text") }
        let device = try Device("one", provider: memory, clock: clock, pullPart: 300)
        #expect(await device.sync() == .settled)
        try await device.service.pin("kept")
        memory.edit { tree in
            for number in 0..<count { tree.write(RelativePath(stringLiteral: "kept/\(number)"), "text") }
        }
        #expect(await device.sync() == .settled)
        // Nothing is told of any more that the test does not do itself.
        try await device.metadata.namesIndexed()
        let pause = PauseSwitch(clock: clock.syncClock)
        let environment = device.service.environment
        let pinned = PinnedContent(
            index: environment.index, settings: environment.settings, clock: environment.clock, pause: pause)
        return (device, pinned, pause)
    }

    @Test("Pinned content comes, however much of it that is looked at before does not")
    func pinnedBehindFailures() async throws {
        let (device, pinned, _) = try await device(pinned: 300)
        let tried = Lock<Set<RelativePath>>([])
        let running = Task {
            await pinned.run { (path, _) throws(MaterializeError) in
                _ = tried.withLock { $0.insert(path) }
                throw MaterializeError(errno: EACCES, message: "refused")
            }
        }
        while tried.withLock({ $0.count }) < 300 { try await Task.sleep(for: .milliseconds(5)) }
        running.cancel()
        await running.value
        withExtendedLifetime(device) {}
    }

    @Test("Where a provider is not there its pinned content is not tried one by one; what comes after it has its turn")
    func pinnedWhileAway() async throws {
        let (device, pinned, _) = try await device(pinned: 300)
        let tried = Lock<[RelativePath]>([])
        let running = Task {
            await pinned.run { (path, _) throws(MaterializeError) in
                tried.withLock { $0.append(path) }
                throw MaterializeError(errno: ENETUNREACH, message: "away")
            }
        }
        while tried.withLock({ $0.count }) < 256 { try await Task.sleep(for: .milliseconds(5)) }
        for _ in 0..<1000 { await Task.yield() }
        #expect(tried.withLock { $0.count } == 256)
        try device.write("other", "text")
        while tried.withLock({ $0.count }) < 300 { try await Task.sleep(for: .milliseconds(5)) }
        for _ in 0..<1000 { await Task.yield() }
        #expect(tried.withLock { Set($0).count == 300 && $0.count == 300 })
        running.cancel()
        await running.value
    }

    @Test("Pinned content comes when a pause is over, by its time or resumed", arguments: [false, true])
    func pinnedInPause(isResumed: Bool) async throws {
        let (device, pinned, pause) = try await device(pinned: 1)
        pause.set(isResumed ? .never : .at(FileTime(nanoseconds: clock.now.nanoseconds + 4_000_000_000)))
        let came = Lock<RelativePath?>(nil)
        let running = Task { await pinned.run { (path, _) throws(MaterializeError) in came.withLock { $0 = path } } }
        if isResumed {
            for _ in 0..<1000 { await Task.yield() }
            #expect(came.withLock { $0 } == nil)
            pause.set(nil)
            pinned.wake()
        }
        while came.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(5)) }
        running.cancel()
        await running.value
        withExtendedLifetime(device) {}
    }

    @Test("Who resumes a paused drive has its pinned content brought")
    func pinnedInPausedDrive() async throws {
        let (device, _, _) = try await device(pinned: 1)
        try await device.service.pause(until: .never)
        let service = device.service
        let running = Task { await service.run() }
        for _ in 0..<1000 { await Task.yield() }
        #expect(try device.isDataless("kept/0"))
        try await service.resume()
        while try device.isDataless("kept/0") { try await Task.sleep(for: .milliseconds(5)) }
        running.cancel()
        await running.value
    }

    @Test("How much has to go: down to nine tenths of the limit, or up to eleven of what stays free")
    func excess() {
        let limits = SpaceLimits(limit: ByteCount(1000), keepFree: ByteCount(100))
        let full = SpaceFigures(used: 1000, evictable: 0, free: 100)
        #expect(limits.excess(full, more: 0) == 0)
        #expect(limits.excess(full, more: 1) == 101)
        #expect(limits.excess(SpaceFigures(used: 10, evictable: 0, free: 40), more: 0) == 70)
        #expect(!limits.admits(1, full))
        #expect(limits.admits(1, SpaceFigures(used: 999, evictable: 0, free: 101)))
        let figures = SpaceFigures(used: 900, evictable: 300, free: 150)
        #expect(limits.room(figures) == 50)
        #expect(limits.room(figures.emptied) == 350)
    }

    @Test("Sizes that add up to more than a number holds leave no room, and end nothing")
    func hugeSizes() {
        let limits = SpaceLimits(limit: ByteCount(1000), keepFree: ByteCount(100))
        let figures = SpaceFigures(used: .max, evictable: .max, free: 200)
        #expect(limits.excess(figures, more: .max) > 0)
        #expect(!limits.admits(.max, figures) && !limits.admits(.max, figures.emptied))
        #expect(limits.room(figures) < 0)
        #expect(limits.room(figures.emptied) == 1000)
        let room = WriteRoom()
        room.set(now: -.max, atMost: 1000, of: nil, asOf: 0)
        for _ in 0..<3 { room.takeRegardless(.max) }
        #expect(room.isFull && !room.take(1))
        room.set(now: 50, atMost: 1000, of: nil, asOf: room.taken)
        #expect(room.take(50) && !room.take(1))
    }
}
