import Glibc
import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Synchronization
import Testing

/// Documents that come as they are read.
@Suite(.timeLimit(.minutes(1))) struct ArrivingTests {
    let clock = TestClock()
    let memory = MemoryProvider()
    static let size = 3 * ReadAhead.block + 1000
    /// Made once: it takes long in a debug build.
    private static let content = (0..<Int(size)).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
    let bytes = Self.content

    /// A device with one large dataless document, behind a provider that can be made to fail.
    private func device() async throws -> (Device, FaultyProvider) {
        memory.edit { $0.write("doc", .file(bytes)) }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        #expect(try device.isDataless("doc"))
        memory.clearOperations()
        return (device, faulty)
    }

    private func open(_ device: Device) async throws -> any ArrivingContent {
        let inode = try device.tree.requiredStatus(at: "doc").inode
        let content = try #require(try await device.service.open(path: "doc", inode: inode))
        // A version that the provider has no more was followed by the next.
        #expect(content.inode == (try device.tree.requiredStatus(at: "doc").inode) && content.size == Self.size)
        return content
    }

    private func read(_ content: any ArrivingContent, _ range: Range<Int64>) -> [UInt8] {
        var found = [UInt8](repeating: 0, count: range.count)
        #expect(pread(content.descriptor, &found, found.count, off_t(range.lowerBound)) == found.count)
        return found
    }

    private func part(_ range: Range<Int64>) -> [UInt8] { Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]) }

    private var fetched: [Range<Int64>] {
        memory.operations.compactMap { if case .fetchPart(_, let range) = $0 { range } else { nil } }
    }

    private func id(_ device: Device) async throws -> ItemID {
        try #require(try await device.index.item(drivePath: "doc")).entry.id
    }

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
            document.want(0..<4 * ReadAhead.block)
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

    @Test(
        "What has come of a document goes once the document is deleted, replaced or emptied here",
        arguments: ["deleted", "replaced", "emptied"])
    func goneHere(how: String) async throws {
        let (device, _) = try await device()
        let (service, item) = (device.service, try await id(device))
        let running = Task { await service.run() }
        // It has looked through what was left before.
        while memory.operations.isEmpty {
            clock.advance(.seconds(1))
            service.wake()
            await Task.yield()
        }
        do { _ = try await open(device) }
        try await waitUntil { service.arrived(item) != nil && !service.arriving.isInUse(item) }
        switch how {
        case "deleted": try device.remove("doc")
        case "replaced":
            try device.write("other", "text")
            try device.rename("other", "doc")
        default:
            // As the driver does: emptied, then without its mark.
            try device.empty("doc")
        }
        try await device.index.settle()
        try await waitUntil { service.arrived(item) == nil }
        #expect(access("\(service.arriving.directory)/\(item)", F_OK) != 0 && !device.hasMap(item))
        running.cancel()
        await running.value
    }

    @Test(
        "A document whose time, mode or place is changed here is read on, and what has come of it stays",
        arguments: ["touched", "moved"], [true, false])
    func changedMeanwhile(how: String, isOpen: Bool) async throws {
        let (device, _) = try await device()
        let (service, item) = (device.service, try await id(device))
        var content: (any ArrivingContent)? = try await open(device)
        try await content?.bring(0..<ReadAhead.block)
        if !isOpen {
            content = nil
            try await waitUntil { !service.arriving.isInUse(item) && device.hasMap(item) }
        }
        let version = try await device.index.item(item)?.base?.version
        let path: RelativePath = how == "moved" ? "new" : "doc"
        if how == "moved" { try device.rename("doc", path) } else { try device.touch("doc") }
        #expect(await device.sync() == .settled)
        if how == "touched" { try #require(try await device.index.item(item)?.base?.version != version) }
        memory.clearOperations()
        let inode = try device.tree.requiredStatus(at: path).inode
        if content == nil { content = try await service.open(path: path, inode: inode) }
        let reader = try #require(content)
        try await reader.bring(0..<Self.size)
        #expect(read(reader, 0..<Self.size) == bytes)
        try await service.materialize(path: path, inode: inode)
        #expect(try !device.isDataless(path))
        #expect(fetched.allSatisfy { $0.lowerBound >= ReadAhead.block })
    }

    @Test(
        "What is on its way, or asked for, while the document's time or place is changed here comes all the same",
        arguments: ["touched", "moved"], [true, false])
    func changedUnderWay(how: String, isOnItsWay: Bool) async throws {
        func change(_ device: Device) throws {
            if how == "moved" { try device.rename("doc", "new") } else { try device.touch("doc") }
        }
        let (device, faulty) = try await device()
        let (gate, service) = (Gate(), device.service)
        let content = try await open(device)
        try await waitUntil { service.transfers.current.isEmpty }
        let range = 2 * ReadAhead.block + 5..<2 * ReadAhead.block + 15
        #expect(!content.isHere(range))
        memory.clearOperations()
        if isOnItsWay {
            faulty.inject(Fault(.fetch, .hold(gate)))
            let reading = Task { try await content.bring(range) }
            await gate.waitForArrivals(1)
            try change(device)
            #expect(await device.sync() == .settled)
            gate.open()
            try await reading.value
        } else {
            // The provider has it; here it is not known yet.
            faulty.inject(Fault(how == "moved" ? .move : .setAttributes, .holdAnswer(gate)))
            try change(device)
            let syncing = Task { await service.syncNow(timeout: nil) }
            await gate.waitForArrivals(1)
            let asked = faulty.count(.fetch)
            let reading = Task { try await content.bring(range) }
            try await waitUntil { faulty.count(.fetch) > asked }
            gate.open()
            try await reading.value
            #expect(await syncing.value == .settled)
        }
        #expect(read(content, range) == part(range))
    }

    @Test(
        "What came in parts is installed as what the index has of it by then, where its time was sent meanwhile",
        arguments: [ProviderCall.fetch, .item])
    func sentMeanwhile(call: ProviderCall) async throws {
        let (device, faulty) = try await device()
        let (service, item) = (device.service, try await id(device))
        let content = try await open(device)
        try await waitUntil { service.transfers.current.isEmpty }
        try device.touch("doc")
        let gate = Gate()
        // While it comes, or once it has and is about to be checked.
        faulty.inject(Fault(call, .hold(gate)))
        let downloading = Task { try await service.download("doc") }
        await gate.waitForArrivals(1)
        #expect(await device.sync() == .settled)
        gate.open()
        #expect(try await downloading.value == 1)
        try await device.index.settle()
        let base = try #require(try await device.index.item(item)?.base)
        let there = try #require(memory.items.first)
        #expect(try !device.isDataless("doc"))
        #expect(base.version == there.version && base.mtime == there.mtime)
        withExtendedLifetime(content) {}
    }

    @Test("What was removed here is read to its end; then it is deleted at the provider, or once the user asks for it")
    func removedWhileRead() async throws {
        for isAsked in [false, true] {
            let (device, _) = try await device()
            let late = 2 * ReadAhead.block + 5..<2 * ReadAhead.block + 15
            do {
                let content = try await open(device)
                try device.remove("doc")
                clock.advance(.seconds(60))
                let engine = try #require(device.service.engines.first)
                _ = await engine.round(isUrgent: false, pulls: false)
                try await content.bring(late)
                #expect(read(content, late) == part(late))
                #expect(memory.contents(at: "doc") != nil)
                if isAsked {
                    #expect(await device.sync() == .settled)
                    #expect(memory.contents(at: "doc") == nil)
                }
            }
            clock.advance(.seconds(60))
            _ = await device.service.engines.first?.round(isUrgent: false, pulls: false)
            #expect(memory.contents(at: "doc") == nil)
        }
    }

    @Test(
        "What was moved here, or its directory, and then removed is read to its end as well", arguments: [false, true])
    func movedAndRemovedWhileRead(inDirectory: Bool) async throws {
        let (device, _) = try await device()
        let engine = try #require(device.service.engines.first)
        func round() async {
            clock.advance(.seconds(60))
            _ = await engine.round(isUrgent: false, pulls: false)
        }
        var path: RelativePath = "doc"
        if inDirectory {
            try device.makeDirectory("d")
            try device.rename("doc", "d/doc")
            path = "d/doc"
            await round()
        }
        let late = 2 * ReadAhead.block + 5..<2 * ReadAhead.block + 15
        do {
            let inode = try device.tree.requiredStatus(at: path).inode
            let content = try #require(try await device.service.open(path: path, inode: inode))
            try device.rename(inDirectory ? "d" : "doc", "moved")
            await round()
            let moved: RelativePath = inDirectory ? "moved/doc" : "moved"
            #expect(memory.contents(at: moved) != nil)
            try device.remove(moved)
            await round()
            try await content.bring(late)
            #expect(read(content, late) == part(late))
            #expect(memory.contents(at: moved) != nil)
        }
        await round()
        #expect(memory.contents(at: inDirectory ? "moved/doc" : "moved") == nil)
    }

    @Test("What takes the place of a document that is read on goes up, and a look for somebody else deletes nothing")
    func replacedWhileRead() async throws {
        let (device, _) = try await device()
        let engine = try #require(device.service.engines.first)
        func round(isUrgent: Bool) async {
            clock.advance(.seconds(60))
            _ = await engine.round(isUrgent: isUrgent, pulls: true)
        }
        try device.write("other", "edited")
        await round(isUrgent: false)
        let content = try await open(device)
        try device.remove("doc")
        await round(isUrgent: true)
        #expect(memory.contents(at: "doc") == bytes)
        try device.rename("other", "doc")
        for _ in 0..<3 { await round(isUrgent: false) }
        #expect(memory.contents(at: "doc") == Array("edited".utf8) && memory.contents(at: "other") == nil)
        withExtendedLifetime(content) {}
    }

    @Test("What is installed is the file that was checked, whatever comes to its place meanwhile")
    func droppedMeanwhile() async throws {
        let (device, _) = try await device()
        let content = try await open(device)
        let (service, item) = (device.service, try await id(device))
        let subject = PartialContent.Subject(
            item: item, container: .default, version: try #require(try await device.index.item(item)?.base?.version),
            size: Self.size)
        let wasInUse = Lock<Bool?>(nil)
        let (directory, staging) = (service.arriving.directory, device.home.staging)
        device.openForWriting.beforeAnswer.withLock {
            $0 = {
                wasInUse.withLock { $0 = service.arriving.isInUse(item) }
                service.arriving.drop(item)
                // As whoever opens it next does.
                _ = try? PartialContent.open(subject, in: directory, staging: staging)
            }
        }
        withExtendedLifetime(content) {}
        #expect(try await service.download("doc") == 1)
        #expect(wasInUse.withLock { $0 } == true)
        let file = try device.tree.openForReading("doc")
        #expect(try ContentCopy.checksum(of: file, shown: "doc").checksum == ContentChecksum.sha256(of: bytes))
        #expect(try !device.isDataless("doc"))
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "doc") == bytes)
    }

    @Test("Where a document is open for writing, what has come of it stays for the next attempt")
    func busy() async throws {
        let (device, _) = try await device()
        let inode = try device.tree.requiredStatus(at: "doc").inode
        device.openForWriting.insert(inode)
        await #expect(throws: MaterializeError.self) {
            try await device.service.materialize(path: "doc", inode: inode)
        }
        #expect(device.service.arrived(try await id(device))?.bytes == Self.size)
        device.openForWriting.removeAll()
        let before = fetched.count
        try await device.service.materialize(path: "doc", inode: inode)
        #expect(try !device.isDataless("doc"))
        #expect(fetched.count == before)
    }

    /// For what other threads do on their own.
    private func waitUntil(
        _ location: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while try !condition() {
            try #require(ContinuousClock.now < deadline, sourceLocation: location)
            await Task.yield()
        }
    }
}
