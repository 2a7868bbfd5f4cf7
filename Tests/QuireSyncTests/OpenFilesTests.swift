import Glibc
import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
import Synchronization
import Testing

@testable import QuireSync

/// What programs have open for writing goes up all the same, now and then.
@Suite(.timeLimit(.minutes(1))) struct OpenFilesTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    /// Runs the engine's rounds as they come due by themselves for so long, while `write` is called each second.
    ///
    /// - Returns: how many rounds that were.
    private func run(
        _ device: Device, for duration: Duration, write: (_ second: Int64) throws -> Void
    ) async throws -> Int {
        let engine = try #require(device.service.engines.first)
        let begin = clock.now
        var (rounds, second): (Int, Int64) = (0, 0)
        while clock.now.since(begin) < duration {
            let pause = engine.pause(after: await engine.round(isUrgent: false, pulls: true))
            rounds += 1
            let end = clock.now.advanced(by: pause)
            while clock.now < end {
                clock.advance(min(.seconds(1), max(.milliseconds(1), end.since(clock.now))))
                let now = clock.now.since(begin).components.seconds
                if now > second {
                    second = now
                    try write(second)
                }
            }
        }
        return rounds
    }

    /// A device at whose document a program is that has written to it, of which the index hears when it asks.
    private func deviceWithLog(_ provider: any DocumentProvider) async throws -> Device {
        let device = try Device("one", provider: provider, clock: clock)
        try device.write("log", "0")
        #expect(await device.sync() == .settled)
        let (tree, index) = (device.tree, device.index)
        device.openForWriting.insert(try tree.requiredStatus(at: "log").inode)
        let reported = Lock<Fingerprint?>(nil)
        device.metadata.setLateReporter {
            guard let status = try? tree.requiredStatus(at: "log") else { return }
            let isNew = reported.withLock { reported in
                defer { reported = status.fingerprint }
                return reported != status.fingerprint
            }
            if isNew { index.record(.contentChanged(status, writersOpen: true)) }
        }
        return device
    }

    @Test(
        "What is written to each second, and never closed, goes up every five minutes, and asks for few rounds meanwhile"
    )
    func neverQuiet() async throws {
        let faulty = FaultyProvider(memory)
        let device = try await deviceWithLog(faulty)
        let before = faulty.count(.put)
        let rounds = try await run(device, for: .seconds(620)) { try device.writeUnseen("log", "text \($0)") }
        #expect((1...3).contains(faulty.count(.put) - before), "\(faulty.count(.put) - before)")
        #expect(rounds < 150, "\(rounds)")
        #expect(String(decoding: memory.contents(at: "log") ?? [], as: UTF8.self).hasPrefix("text"))
    }

    @Test(
        "Who waits for all to be sent has what is always written to sent once, and waits no longer, also where it is closed each time",
        arguments: [(30, true), (400, true), (100, false)])
    func asked(milliseconds: Int64, isOpen: Bool) async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("log", "0")
        #expect(await device.sync() == .settled)
        let (tree, index, clock, path) = (device.tree, device.index, clock, "\(device.home.storePath)/log")
        if isOpen { device.openForWriting.insert(try tree.requiredStatus(at: "log").inode) }
        // Written to whenever the index is asked.
        device.metadata.setLateReporter {
            clock.advance(.milliseconds(milliseconds))
            let descriptor = Glibc.open(path, O_WRONLY)
            let text = "text \(clock.now.nanoseconds)"
            _ = Glibc.write(descriptor, text, text.utf8.count)
            close(descriptor)
            guard let status = try? tree.requiredStatus(at: "log") else { return }
            index.record(.contentChanged(status, writersOpen: isOpen))
        }
        let before = faulty.count(.put)
        #expect(await device.sync() == .settled)
        #expect(faulty.count(.put) - before == 1)
        #expect(String(decoding: memory.contents(at: "log") ?? [], as: UTF8.self).hasPrefix("text"))
    }

    @Test("Who waits for all to be sent has what was written since a snapshot was taken that arrives only now")
    func askedDuringUpload() async throws {
        let gate = Gate()
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("log", "0")
        #expect(await device.sync() == .settled)
        let status = try device.tree.requiredStatus(at: "log")
        device.openForWriting.insert(status.inode)
        func write(_ text: String) throws {
            try device.writeUnseen("log", text)
            device.index.record(.contentChanged(try device.tree.requiredStatus(at: "log"), writersOpen: true))
        }
        faulty.inject(Fault(.put, .hold(gate), path: "log"))
        try write("one")
        clock.advance(.seconds(60))
        let engine = try #require(device.service.engines.first)
        let service = device.service
        let background = Task { await engine.round(isUrgent: true, pulls: false) }
        await gate.waitForArrivals(1)
        try write("two")
        let asked = Task { await service.syncNow(timeout: nil) }
        clock.advance(.seconds(1))
        gate.open()
        _ = await background.value
        #expect(await asked.value == .settled)
        #expect(memory.contents(at: "log") == Array("two".utf8))
    }

    @Test("What was open while it was read, and is closed when it has arrived, is compared once more")
    func closedMeanwhile() async throws {
        let gate = Gate()
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("doc", "0")
        #expect(await device.sync() == .settled)
        device.openForWriting.insert(try device.tree.requiredStatus(at: "doc").inode)
        try device.writeUnseen("doc", "text")
        device.index.record(.contentChanged(try device.tree.requiredStatus(at: "doc"), writersOpen: true))
        faulty.inject(Fault(.put, .hold(gate), path: "doc"))
        clock.advance(.seconds(60))
        let engine = try #require(device.service.engines.first)
        let sending = Task { await engine.round(isUrgent: true, pulls: false) }
        await gate.waitForArrivals(1)
        device.openForWriting.removeAll()
        device.index.record(.contentChanged(try device.tree.requiredStatus(at: "doc"), writersOpen: false))
        gate.open()
        #expect(await sending.value.push.sent == 1)
        #expect(try await device.pending().count == 1)
        let before = faulty.count(.put)
        #expect(await device.sync() == .settled)
        #expect(try await device.pending().isEmpty && faulty.count(.put) == before)
    }

    @Test("What rests while it is open goes up once")
    func rests() async throws {
        let faulty = FaultyProvider(memory)
        let device = try await deviceWithLog(faulty)
        let before = faulty.count(.put)
        _ = try await run(device, for: .seconds(700)) { if $0 <= 20 { try device.writeUnseen("log", "text \($0)") } }
        #expect(faulty.count(.put) - before == 1)
        #expect(memory.contents(at: "log") == Array("text 20".utf8))
    }

    @Test("What cannot be sent is tried now and then, and not in each round")
    func refused() async throws {
        let faulty = FaultyProvider(memory)
        let device = try await deviceWithLog(faulty)
        let before = faulty.count(.put)
        faulty.inject(Fault(.put, .failBefore(ProviderError(.invalidName, "refused")), times: nil))
        let rounds = try await run(device, for: .seconds(400)) { try device.writeUnseen("log", "text \($0)") }
        #expect((1...12).contains(faulty.count(.put) - before), "\(faulty.count(.put) - before)")
        #expect(rounds < 200, "\(rounds)")
    }
}
