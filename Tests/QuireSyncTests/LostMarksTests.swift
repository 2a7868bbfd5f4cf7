import CLinux
import Glibc
import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// A home that was copied by a tool that leaves extended attributes out has placeholders that do not say so.
@Suite(.timeLimit(.minutes(1))) struct LostMarksTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    /// How the copy of a placeholder lies on the disk.
    enum Copy: CaseIterable { case sameFile, hole, zeros, laterTime }

    /// A device with one dataless document.
    private func device() async throws -> Device {
        memory.edit { $0.write("doc", "content") }
        let device = try Device("one", provider: memory, clock: clock)
        #expect(await device.sync() == .settled)
        #expect(try device.isDataless("doc"))
        return device
    }

    private var provided: String? { memory.contents(at: "doc").map { String(decoding: $0, as: UTF8.self) } }

    /// Puts a file of zeros without a mark in the document's place.
    private func replace(_ device: Device, _ copy: Copy) throws {
        let (file, staged) = (device.home.storePath + "/doc", device.home.stagingPath + "/copy")
        guard copy != .sameFile else {
            #expect(removexattr(file, StoreAttribute.placeholder) == 0)
            return
        }
        let status = try device.tree.requiredStatus(at: "doc")
        let descriptor = open(staged, O_CREAT | O_EXCL | O_WRONLY, 0o644)
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        if copy == .hole {
            #expect(ftruncate(descriptor, off_t(status.size)) == 0)
        } else {
            let zeros = [UInt8](repeating: 0, count: Int(status.size))
            #expect(write(descriptor, zeros, zeros.count) == zeros.count)
        }
        let seconds = status.mtime.seconds + (copy == .laterTime ? 100 : 0)
        let time = timespec(tv_sec: seconds, tv_nsec: status.mtime.subsecondNanoseconds)
        #expect(futimens(descriptor, [time, time]) == 0)
        #expect(rename(staged, file) == 0)
    }

    @Test(
        "A placeholder whose copy has no mark is one again; its zeros are neither sent nor shown",
        arguments: Copy.allCases)
    func markIsRenewed(copy: Copy) async throws {
        let device = try await device()
        try replace(device, copy)
        device.metadata.beginRescan()
        #expect(await device.restartedService(memory).syncNow(timeout: nil) == .settled)
        #expect(provided == "content")
        #expect(try device.isDataless("doc"))
        #expect(try await device.pending().isEmpty)
        #expect(try await device.open("doc") == "content")
    }

    @Test("Zeros that a program wrote go up, also over what was not here and in its size", arguments: [true, false])
    func writtenZeros(isHere: Bool) async throws {
        let device = try await device()
        if isHere { #expect(try await device.open("doc") == "content") }
        let file = device.home.storePath + "/doc"
        // As the driver does where what was there is not wanted.
        if !isHere { #expect(removexattr(file, StoreAttribute.placeholder) == 0) }
        try device.write("doc", "\0\0\0\0\0\0\0")
        #expect(await device.sync() == .settled)
        device.metadata.beginRescan()
        #expect(await device.sync() == .settled)
        #expect(provided == "\0\0\0\0\0\0\0")
    }

    @Test("Zeros with size and time of the provider's version are never sent over it; with another time they are")
    func refused() async throws {
        let device = try await device()
        #expect(try await device.open("doc") == "content")
        try replace(device, .zeros)
        device.metadata.beginRescan()
        let result = await device.restartedService(memory).syncNow(timeout: nil)
        guard case .unresolved(_, let errors, _) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(errors.map(\.path) == ["doc"])
        #expect(provided == "content")
        try device.touch("doc")
        #expect(await device.restartedService(memory).syncNow(timeout: nil) == .settled)
        #expect(provided == "\0\0\0\0\0\0\0")
    }
}
