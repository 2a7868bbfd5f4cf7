import Glibc
import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// Tests of a large document that comes as it is read, at a provider in memory.
protocol ArrivingSuite {
    var clock: TestClock { get }
    var memory: MemoryProvider { get }
}

/// Made once: it takes long in a debug build.
private let content = (0..<Int(3 * ReadAhead.block + 1000)).map {
    UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7)
}

extension ArrivingSuite {
    static var size: Int64 { Int64(content.count) }
    var bytes: [UInt8] { content }

    /// A device with one large dataless document, behind a provider that can be made to fail.
    func device() async throws -> (Device, FaultyProvider) {
        memory.edit { $0.write("doc", .file(bytes)) }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        #expect(try device.isDataless("doc"))
        memory.clearOperations()
        return (device, faulty)
    }

    func open(_ device: Device) async throws -> any ArrivingContent {
        let inode = try device.tree.requiredStatus(at: "doc").inode
        let content = try #require(try await device.service.open(path: "doc", inode: inode))
        // A version that the provider has no more was followed by the next.
        #expect(content.inode == (try device.tree.requiredStatus(at: "doc").inode) && content.size == Self.size)
        return content
    }

    func read(_ content: any ArrivingContent, _ range: Range<Int64>) -> [UInt8] {
        var found = [UInt8](repeating: 0, count: range.count)
        #expect(pread(content.descriptor, &found, found.count, off_t(range.lowerBound)) == found.count)
        return found
    }

    func part(_ range: Range<Int64>) -> [UInt8] { Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]) }

    var fetched: [Range<Int64>] {
        memory.operations.compactMap { if case .fetchPart(_, let range) = $0 { range } else { nil } }
    }

    func id(_ device: Device) async throws -> ItemID {
        try #require(try await device.index.item(drivePath: "doc")).entry.id
    }

    /// For what other threads do on their own.
    func waitUntil(
        _ location: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while try !condition() {
            try #require(ContinuousClock.now < deadline, sourceLocation: location)
            await Task.yield()
        }
    }
}
