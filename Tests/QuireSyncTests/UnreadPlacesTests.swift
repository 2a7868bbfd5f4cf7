import Glibc
import QuireCore
@testable import QuireIndex
import QuireProviders
@testable import QuireSync
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct UnreadPlacesTests {
    let clock = TestClock()
    let memory = MemoryProvider()
    let disk = Disk()

    final class Disk: Sendable {
        /// Whether what is called `doc` cannot be looked at.
        let isFailing = Lock(false)
        /// Whether looking at it takes until this is false.
        let isSlow = Lock(false)
    }

    private func device() throws -> Device {
        let plain = StoreCalls()
        var calls = StoreCalls()
        calls.status = { [disk] directory, name, status in
            while disk.isSlow.withLock({ $0 }), String(cString: name) == "doc" { sched_yield() }
            guard disk.isFailing.withLock({ $0 }), String(cString: name) == "doc" else {
                return plain.status(directory, name, status)
            }
            errno = EIO
            return -1
        }
        return try Device("one", provider: memory, clock: clock, calls: calls)
    }

    private var provided: String? { memory.contents(at: "doc").map { String(decoding: $0, as: UTF8.self) } }

    @Test("While the store is compared with the index, how much is pending is told with that doubt")
    func doubt() async throws {
        let device = try device()
        try device.write("doc", "content")
        #expect(await device.sync() == .settled)
        #expect(await device.service.status().doubt == nil)
        disk.isSlow.withLock { $0 = true }
        device.metadata.beginRescan()
        let doubt = await device.service.status().doubt
        disk.isSlow.withLock { $0 = false }
        #expect(doubt?.contains("compared") == true)
        _ = await device.metadata.rescanFinished()
        #expect(await device.service.status().doubt == nil)
    }

    @Test("What the disk cannot tell of is not deleted at the provider; it is told, and what comes there waits")
    func told() async throws {
        let device = try device()
        for name in ["doc", "other"] as [RelativePath] { try device.write(name, "content") }
        #expect(await device.sync() == .settled)
        disk.isFailing.withLock { $0 = true }
        device.metadata.beginRescan()
        guard case .unresolved(_, let errors, let held) = await device.sync() else {
            Issue.record("nobody was told")
            return
        }
        #expect(errors.map(\.path) == ["doc"])
        #expect(held == 0)
        #expect(provided == "content")
        // What another device has written waits, too, and sync ends.
        memory.edit { $0.write("doc", "newer content") }
        guard case .unresolved = await device.sync() else {
            Issue.record("nobody was told")
            return
        }
        #expect(try device.text("doc") == "content")
        disk.isFailing.withLock { $0 = false }
        device.metadata.beginRescan()
        #expect(await device.sync() == .settled)
        #expect(try await device.open("doc") == "newer content")
    }
}
