import Glibc
import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Synchronization
import Testing

/// Documents that come as they are read.
@Suite(.timeLimit(.minutes(1))) struct ArrivingTests: ArrivingSuite {
    let clock = TestClock()
    let memory = MemoryProvider()

    @Test("Opening brings the first block; reading elsewhere the block that it touches, and nothing twice")
    func blocks() async throws {
        let (device, _) = try await device()
        let content = try await open(device)
        #expect(fetched.allSatisfy { $0.upperBound <= ReadAhead.block } && !fetched.isEmpty)
        let late = 2 * ReadAhead.block + 5..<2 * ReadAhead.block + 15
        #expect(!content.isHere(late))
        try await content.bring(late)
        #expect(content.isHere(late))
        #expect(read(content, late) == part(late))
        #expect(read(content, 0..<100) == part(0..<100))
        var all = RangeSet<Int64>()
        for range in fetched {
            #expect(all.intersection(RangeSet(range)).isEmpty, "\(range) came twice: \(fetched)")
            all.insert(contentsOf: range)
        }
        #expect(try device.isDataless("doc"))
        #expect(device.service.arrived(try await id(device))?.bytes == all.ranges.reduce(0) { $0 + Int64($1.count) })
    }

    @Test(
        "Content that came in parts and comes again under another version replaces no file, edited meanwhile or not",
        arguments: [false, true])
    func comesAgain(edited: Bool) async throws {
        let (device, faulty) = try await device()
        let inode = try device.tree.requiredStatus(at: "doc").inode
        try await device.service.materialize(path: "doc", inode: inode)
        let before = try device.tree.requiredStatus(at: "doc")
        // Nothing was there to compare it with.
        #expect(try await device.index.item(drivePath: "doc")?.base?.checksum == nil)
        memory.edit { $0.write("doc", .file(bytes)) }
        let gate = Gate()
        faulty.inject(Fault(.fetch, .holdAnswer(gate)))
        let service = device.service
        let synced = Task { await service.syncNow(timeout: nil) }
        await gate.waitForArrivals(1)
        if edited { try device.write("doc", "edited") }
        gate.open()
        _ = await synced.value
        #expect(await device.sync() == .settled)
        #expect(try device.tree.requiredStatus(at: "doc").inode == before.inode)
        #expect(memory.contents(at: "doc") == (edited ? Array("edited".utf8) : bytes))
        #expect(memory.items.count == 1)
        #expect(try await device.index.item(drivePath: "doc")?.base?.version == memory.items.first?.version)
    }

    @Test(
        "What came in parts without a checksum gets one afterwards: it is known again under another version, edited or deleted here",
        arguments: [false, true])
    func counted(isDeleted: Bool) async throws {
        let (device, _) = try await device()
        let inode = try device.tree.requiredStatus(at: "doc").inode
        try await device.service.materialize(path: "doc", inode: inode)
        try await device.index.settle()
        try #require(try await device.index.item(drivePath: "doc")?.base?.checksum == nil)
        // Who waited has the content before its transfer has ended, during which none is counted.
        while !device.service.transfers.current.isEmpty { await Task.yield() }
        #expect(try await device.service.checksums.count())
        try await device.index.settle()
        #expect(try await device.index.item(drivePath: "doc")?.base?.checksum == ContentChecksum.sha256(of: bytes))
        #expect(await device.sync() == .settled)
        if isDeleted { try device.remove("doc") } else { try device.write("doc", "edited") }
        let mtime = try #require(memory.items.first?.mtime)
        memory.edit { $0.write("doc", .file(bytes), mtime: mtime) }
        clock.advance(.seconds(60))
        #expect(await device.sync() == .settled)
        #expect(memory.items.count == (isDeleted ? 0 : 1))
        #expect(isDeleted || memory.contents(at: "doc") == Array("edited".utf8))
    }

    @Test("A checksum is of the version that it was counted of: not of another, nor in place of one that is known")
    func countedLate() async throws {
        let (device, _) = try await device()
        let inode = try device.tree.requiredStatus(at: "doc").inode
        try await device.service.materialize(path: "doc", inode: inode)
        try await device.index.settle()
        let item = try #require(try await device.index.item(drivePath: "doc"))
        let base = try #require(item.base)
        let (first, second) = (ContentChecksum.sha256(of: [1]), ContentChecksum.sha256(of: [2]))
        device.index.record(.counted(item: item.entry.id, version: ProviderVersion("another"), first))
        try await device.index.settle()
        #expect(try await device.index.item(drivePath: "doc")?.base == base)
        device.index.record(.counted(item: item.entry.id, version: base.version, first))
        device.index.record(.counted(item: item.entry.id, version: base.version, second))
        try await device.index.settle()
        #expect(try await device.index.item(drivePath: "doc")?.base?.checksum == first)
        #expect(try await device.index.uncountedFiles(after: nil, limit: 10).isEmpty)
    }

    @Test("A document of which everything was read takes its placeholder's place by itself, and its readers read on")
    func completes() async throws {
        let (device, _) = try await device()
        let before = try device.tree.requiredStatus(at: "doc")
        let content = try await open(device)
        try await content.bring(0..<Self.size)
        // The same download that the last arrival begins: whoever is first, the other finds it done.
        try await device.service.materialize(path: "doc", inode: before.inode)
        #expect(try !device.isDataless("doc"))
        #expect(read(content, 0..<Self.size) == bytes)
        let after = try device.tree.requiredStatus(at: "doc")
        #expect(after.mtime == before.mtime && after.mode == before.mode && after.size == before.size)
        #expect(fetched.reduce(0) { $0 + $1.count } == bytes.count)
        #expect(device.service.arrived(try await id(device)) == nil)
        #expect(await device.sync() == .settled)
        #expect(memory.operations.allSatisfy { if case .put = $0 { false } else { true } })
    }

    @Test("A download goes on where reading, or an earlier daemon, left off")
    func resumes() async throws {
        let (device, _) = try await device()
        do {
            let content = try await open(device)
            try await content.bring(0..<2 * ReadAhead.block)
        }
        let item = try await id(device)
        try await waitUntil { try device.noted(item) >= 2 * ReadAhead.block }
        memory.clearOperations()
        let next = device.restartedService(FaultyProvider(memory))
        #expect(next.arrived(item)?.bytes ?? 0 >= 2 * ReadAhead.block)
        #expect(try await next.download("doc") == 1)
        #expect(fetched.reduce(0) { $0 + $1.count } <= Int(ReadAhead.block) + 1000)
        #expect(try !device.isDataless("doc"))
        let file = try device.tree.openForReading("doc")
        #expect(try ContentCopy.checksum(of: file, shown: "doc").checksum == ContentChecksum.sha256(of: bytes))
    }

    @Test(
        "A reader gets no byte of another version: it learns that its version is gone, and the next reads the new one")
    func otherVersion() async throws {
        let (device, _) = try await device()
        let content = try await open(device)
        memory.edit { $0.write("doc", .file(bytes.map { ~$0 })) }
        await #expect { try await content.bring(2 * ReadAhead.block..<Self.size) } throws: {
            ($0 as? MaterializeError)?.errno == ESTALE
        }
        #expect(read(content, 0..<10) == part(0..<10))
        let new = try await open(device)
        try await new.bring(2 * ReadAhead.block..<Self.size)
        #expect(read(new, 2 * ReadAhead.block..<Self.size) == part(2 * ReadAhead.block..<Self.size).map { ~$0 })
        #expect(read(new, 0..<10) == part(0..<10).map { ~$0 })
        #expect(read(content, 0..<10) == part(0..<10))
    }

    /// What the provider was asked, but for the bytes and the room that they take.
    private var asked: [MemoryProvider.Operation] {
        memory.operations.filter { if case .fetchPart = $0 { false } else { $0 != .freeSpace } }
    }

    @Test("A document that was replaced at the provider is opened after a look at it alone, however many there are")
    func replacedMeanwhile() async throws {
        memory.edit { tree in
            for index in 0..<300 { tree.write(RelativePath(stringLiteral: "d\(index % 20)/n\(index)"), .file([1])) }
        }
        let (device, _) = try await device()
        memory.edit { $0.write("doc", .file(bytes.map { ~$0 })) }
        let content = try await open(device)
        #expect(asked == [.item("doc")])
        #expect(read(content, 0..<10) == part(0..<10).map { ~$0 })
        try await content.bring(0..<Self.size)
        #expect(read(content, 0..<Self.size) == bytes.map { ~$0 })
        try await device.service.materialize(path: "doc", inode: content.inode)
        #expect(try !device.isDataless("doc"))
        memory.clearOperations()
        #expect(await device.sync() == .settled)
        #expect(memory.operations.allSatisfy { if case .put = $0 { false } else { true } })
        #expect(try !device.isDataless("doc"))
    }

    @Test("A mode that was set here stays when the document that it was set on turns out to be replaced")
    func changedHere() async throws {
        let (device, _) = try await device()
        try device.chmod("doc", 0o600)
        memory.edit { $0.write("doc", .file(bytes.map { ~$0 })) }
        let content = try await open(device)
        #expect(read(content, 0..<10) == part(0..<10).map { ~$0 })
        #expect(try device.tree.requiredStatus(at: "doc").mode == 0o600)
        #expect(asked == [.item("doc")])
    }

    @Test("What a look at the document alone does not tell is left to a pull")
    func movedThere() async throws {
        let (device, _) = try await device()
        memory.edit { tree in
            tree.move("doc", to: "elsewhere")
            tree.write("doc", .file(bytes.map { ~$0 }))
        }
        _ = try await open(device)
        #expect(asked.contains(.changes))
    }

    @Test("A pull with an older listing leaves alone what a look has renewed")
    func olderListing() async throws {
        let (device, faulty) = try await device()
        let service = device.restartedService(faulty)
        let gate = Gate()
        faulty.inject(Fault(.changes, .holdAnswer(gate)))
        let pull = Task { await service.syncNow(timeout: nil) }
        await gate.waitForArrivals(1)
        memory.edit { $0.write("doc", .file(bytes.map { ~$0 })) }
        let inode = try device.tree.requiredStatus(at: "doc").inode
        let content = try #require(try await service.open(path: "doc", inode: inode))
        try await content.bring(0..<Self.size)
        try await service.materialize(path: "doc", inode: content.inode)
        let version = try #require(try await device.index.item(drivePath: "doc")?.base).version
        gate.open()
        #expect(await pull.value == .settled)
        #expect(try !device.isDataless("doc"))
        #expect(try await device.index.item(drivePath: "doc")?.base?.version == version)
        #expect(memory.operations.allSatisfy { if case .put = $0 { false } else { true } })
    }

    @Test("Content that is not what was uploaded is never installed, and said")
    func corrupt() async throws {
        let (device, _) = try await device()
        let item = try #require(try await device.index.item(drivePath: "doc"))
        var base = try #require(item.base)
        base.checksum = ContentChecksum.sha256(of: [1])
        device.index.record(
            .acknowledged(
                StoreEvent.Acknowledgement(
                    item: item.entry.id, base: base, fingerprint: item.entry.fingerprint, writersOpen: false)))
        try await device.index.settle()
        let error = await #expect(throws: QuireError.self) { try await device.service.download("doc") }
        #expect(error?.message.contains("SHA-256") == true)
        // Trying again would not help.
        #expect(error?.code == .failed && error?.remedy == nil)
        #expect(try device.isDataless("doc"))
    }

    @Test(
        "What came in parts is compared with the checksum that only a look at the document tells",
        arguments: [true, false])
    func toldChecksum(isRight: Bool) async throws {
        let (device, faulty) = try await device()
        #expect(try await device.index.item(drivePath: "doc")?.base?.checksum == nil)
        faulty.tell(ContentChecksum.sha256(of: isRight ? bytes : [1]), of: "doc")
        if isRight {
            #expect(try await device.service.download("doc") == 1)
        } else {
            await #expect { try await device.service.download("doc") } throws: { "\($0)".contains("SHA-256") }
        }
        #expect(try device.isDataless("doc") == !isRight)
    }

    @Test("Where the provider has no parts, the document comes whole")
    func noParts() async throws {
        let (device, faulty) = try await device()
        faulty.inject(
            Fault(.fetch, .failBefore(ProviderError(.unsupported, "no parts")), path: "doc"))
        let inode = try device.tree.requiredStatus(at: "doc").inode
        #expect(try await device.service.open(path: "doc", inode: inode) == nil)
        try await device.service.materialize(path: "doc", inode: inode)
        #expect(try !device.isDataless("doc"))
        #expect(memory.operations.contains(.fetch("doc")) && fetched.isEmpty)
    }

    @Test("Without the provider opening fails with the reason; with the first block here it does not need it")
    func offline() async throws {
        let (device, faulty) = try await device()
        faulty.isAvailable = false
        await #expect { try await open(device) } throws: { ($0 as? MaterializeError)?.errno == ENETUNREACH }
        faulty.isAvailable = true
        _ = await device.sync()
        let content = try await open(device)
        faulty.isAvailable = false
        let again = try await open(device)
        #expect(read(again, 0..<10) == part(0..<10))
        await #expect { try await again.bring(2 * ReadAhead.block..<Self.size) } throws: {
            ($0 as? MaterializeError)?.errno == ENETUNREACH
        }
        #expect(content.isHere(0..<10))
    }

    /// A document by itself, while `body` runs.
    private func withDocument(
        size: Int64, bring: @escaping ArrivingDocument.Bring, _ body: (ArrivingDocument) async throws -> Void
    ) async throws {
        let directory = "/tmp/quire-arriving-\(getpid())-\(Device.counter.next())"
        let staging = Staging(path: directory)
        mkdir(directory, 0o700)
        defer { _ = try? staging.sweep(); rmdir(directory) }
        let subject = PartialContent.Subject(
            item: ItemID(1), container: .default, version: ProviderVersion("v"), size: size)
        try await body(
            ArrivingDocument(
                subject, in: directory, staging: staging, pool: PoolExecutor(label: "test", width: 1),
                board: TransferBoard(), logger: Device.logger("test"), bring: bring, noted: {}, whole: {}))
    }

    @Test("A transfer that is cut goes on from where it was cut")
    func cut() async throws {
        let arrived = Lock<[Range<Int64>]>([])
        try await withDocument(size: 1000) { (_, range, progress) async throws(SyncFailure) in
            arrived.withLock { $0.append(range) }
            guard range.lowerBound < 900 else { return }
            progress(ByteCount(300))
            throw SyncFailure(.offline, "cut")
        } _: { document in
            try await document.wait(for: 0..<1000)
        }
        #expect(arrived.withLock { $0 } == [0..<1000, 300..<1000, 600..<1000, 900..<1000])
    }

    @Test("Who comes while a transfer is being given up for others gets what it reads")
    func comesThen() async throws {
        let gate = Gate()
        let calls = Lock(0)
        try await withDocument(size: 4 * ReadAhead.block) { (_, _, _) async throws(SyncFailure) in
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            guard number == 1 else { return }
            // In the middle of something that does not hear of being cancelled.
            await Task { await gate.pass() }.value
            throw SyncFailure(.cancelled, "interrupted", errno: EINTR)
        } _: { document in
            document.enter()
            #expect(document.isHere(0..<0, wanting: 0..<4 * ReadAhead.block))
            await gate.waitForArrivals()
            document.leave()
            document.enter()
            let reading = Task.immediate { try await document.wait(for: ReadAhead.block..<2 * ReadAhead.block) }
            gate.open()
            try await reading.value
            document.leave()
        }
    }

    @Test("What nobody reads any more is not brought on; a reader that is interrupted stops waiting")
    func given() async throws {
        let (device, faulty) = try await device()
        let content = try await open(device)
        let gate = Gate()
        faulty.inject(Fault(.fetch, .hold(gate)))
        let waiting = Task { try await content.bring(2 * ReadAhead.block..<Self.size) }
        await gate.waitForArrivals(1)
        waiting.cancel()
        await #expect { try await waiting.value } throws: { ($0 as? MaterializeError)?.errno == EINTR }
        #expect(device.service.transfers.current.map(\.direction) == [.download])
        let service = device.service
        await #expect { try await service.evict("doc") } throws: { "\($0)".contains("open in a program") }
        withExtendedLifetime(content) {}
        gate.open()
    }

    @Test("Evicting a document that is here in part takes the part")
    func evict() async throws {
        let (device, _) = try await device()
        do { _ = try await open(device) }
        let item = try await id(device)
        try await waitUntil { device.service.arrived(item) != nil && !device.service.arriving.isInUse(item) }
        #expect(try await device.service.evict("doc") == 1)
        #expect(device.service.arrived(item) == nil)
        #expect(!device.hasMap(item))
    }

    @Test("A document that somebody is about to open is not idle")
    func aboutToBeOpened() async throws {
        let (device, _) = try await device()
        do { _ = try await open(device) }
        let (service, item) = (device.service, try await id(device))
        try await waitUntil { !service.arriving.isInUse(item) }
        let sight = try #require(try await service.look(at: "doc"))
        let found = try await service.arriving(try #require(service.place(sight)))
        #expect(service.arriving.dropIdle() == 0)
        await #expect { try await service.evict("doc") } throws: { "\($0)".contains("open in a program") }
        #expect(service.arrived(item) != nil)
        withExtendedLifetime(found) {}
    }
}
