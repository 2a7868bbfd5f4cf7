import Glibc
import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Synchronization
import Testing

/// Documents that are changed, moved, removed or replaced here while they come as they are read.
@Suite(.timeLimit(.minutes(1))) struct ArrivingChangesTests: ArrivingSuite {
    let clock = TestClock()
    let memory = MemoryProvider()

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
}
