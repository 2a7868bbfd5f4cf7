import Glibc
import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct DownloadTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    /// A device with one dataless document, behind a provider that can be made to fail.
    private func device() async throws -> (Device, FaultyProvider) {
        memory.edit { $0.write("doc", "content") }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        #expect(try device.isDataless("doc"))
        return (device, faulty)
    }

    private func materialize(_ device: Device) async throws(MaterializeError) {
        let status: FileStatus?
        do { status = try device.tree.status(at: "doc") } catch {
            throw MaterializeError(errno: EIO, message: "\(error)")
        }
        try await device.service.materialize(path: "doc", inode: status?.inode ?? 0)
    }

    private func errno(_ device: Device) async -> Int32? {
        do throws(MaterializeError) {
            try await materialize(device)
            return nil
        } catch {
            return error.errno
        }
    }

    @Test("However many programs open a file, it is downloaded once")
    func shared() async throws {
        let (device, faulty) = try await device()
        let gate = Gate()
        faulty.inject(Fault(.fetch, .hold(gate)))
        let inode = try device.tree.requiredStatus(at: "doc").inode
        let service = device.service
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { (try? await service.materialize(path: "doc", inode: inode)) != nil }
            }
            await gate.waitForArrivals(1)
            #expect(service.transfers.current.map(\.direction) == [.download])
            gate.open()
            for await succeeded in group { #expect(succeeded) }
        }
        #expect(faulty.count(.fetch) == 1)
        #expect(try device.text("doc") == "content")
        #expect(service.transfers.current.isEmpty)
    }

    @Test(
        "A document whose directory is moved here and there while its content comes is not removed there",
        arguments: [MemoryProvider.full, MemoryProvider.plain])
    func movedMeanwhile(capabilities: ProviderCapabilities) async throws {
        let memory = MemoryProvider(capabilities: capabilities)
        memory.edit { $0.write("d/a", "text") }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        try device.rename("d", "e")
        let gate = Gate()
        faulty.inject(Fault(.fetch, .holdAnswer(gate)))
        let (service, inode) = (device.service, try device.tree.requiredStatus(at: "e/a").inode)
        let coming = Task { try await service.materialize(path: "e/a", inode: inode) }
        await gate.waitForArrivals(1)
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "e/a") == Array("text".utf8))
        gate.open()
        try await coming.value
        memory.clearOperations()
        #expect(await device.sync() == .settled)
        #expect(memory.operations.allSatisfy { $0 == .changes })
        #expect(memory.contents(at: "e/a") == Array("text".utf8))
        #expect(try device.text("e/a") == "text")
    }

    @Test("Only what is where the provider has it is evicted")
    func evictMoved() async throws {
        let (device, _) = try await device()
        #expect(try await device.open("doc") == "content")
        try device.rename("doc", "moved")
        await #expect { try await device.service.evict("moved") } throws: { "\($0)".contains("a place that is not") }
        #expect(try await device.index.evictableFiles(after: nil, limit: 1).isEmpty)
        #expect(await device.sync() == .settled)
        #expect(try await device.service.evict("moved") == 1)
    }

    @Test(
        "An eviction of a directory counts what goes and names what stays: ten at most, and how many more",
        arguments: [3, 12])
    func evictDirectory(edited: Int) async throws {
        let paths = (10..<30).map { RelativePath(stringLiteral: "d/\($0)") }
        memory.edit { contents in for path in paths { contents.write(path, "text") } }
        let (device, _) = try await device()
        try await device.service.download("d")
        for path in paths.prefix(edited) { try device.write(path, "edited here") }
        let eviction = try await device.service.evictAll("d")
        #expect(eviction.files == paths.count - edited)
        #expect(eviction.refused.count == min(edited, 10) && eviction.more == max(0, edited - 10))
        #expect(Set(eviction.refused.map(\.path)).isSubset(of: paths.prefix(edited)))
        for refusal in eviction.refused {
            #expect(refusal.error.message.hasPrefix("\(refusal.path) has content that is not at the provider yet"))
        }
    }

    @Test(
        "A download that fails says whether to try again, and else what is to be done",
        arguments: [
            (.unavailable, .temporary, "Try again when the provider can be reached."),
            (.failed, .temporary, "Try again."),
            (.noSpace, .failed, "Make room on this device, as with `quire evict`."),
            (.notFound, .notFound, "See what became of it with `quire sync`."), (.corrupt, .failed, nil),
            (.permissionDenied, .failed, nil), (.unsupported, .failed, nil),
        ] as [(ProviderError.Code, QuireError.Code, String?)])
    func failures(code: ProviderError.Code, told: QuireError.Code, remedy: String?) async throws {
        let (device, faulty) = try await device()
        let failure = ProviderError(code, "the words for it")
        faulty.inject(Fault(.fetch, .failBefore(failure), times: nil))
        for call in [{ _ = try await $0.download("doc") }, { try await $0.pin("doc") }]
            as [@Sendable (SyncService) async throws -> Void]
        {
            let error = await #expect(throws: QuireError.self) { try await call(device.service) }
            #expect(error?.code == told && error?.remedy == remedy, "\(String(describing: error))")
            #expect(error?.message.contains("the words for it") == true)
        }
    }

    @Test("A download of what is nowhere is not told to be tried again")
    func nowhere() async throws {
        let (device, _) = try await device()
        let container = try #require(device.service.engines.first).context.container
        let error = QuireError(SyncFailure.contentIsNowhere("doc", container))
        #expect(error.code == .failed && error.remedy == nil)
    }

    @Test("Whoever asks for a download hears how much has arrived, from nothing to all, and never less than before")
    func progress() async throws {
        memory.edit {
            $0.write("dir/a", String(repeating: "x", count: 1000))
            $0.write("dir/b", String(repeating: "y", count: 1000))
        }
        let (device, _) = try await device()
        let heard = Lock<[DownloadProgress]>([])
        let service = device.service
        #expect(try await service.download("dir") { progress in heard.withLock { $0.append(progress) } } == 2)
        let seen = heard.withLock { $0 }
        #expect(seen.first == DownloadProgress(completed: .zero, total: ByteCount(2000)))
        #expect(seen.last == DownloadProgress(completed: ByteCount(2000), total: ByteCount(2000)))
        #expect(seen.map(\.completed) == seen.map(\.completed).sorted())
        let silent = Lock(0)
        #expect(try await service.download("dir") { _ in silent.withLock { $0 += 1 } } == 0)
        #expect(silent.withLock { $0 } == 0)
    }

    @Test(
        "What was written into a placeholder while the daemon was stopped is the document's content, here and at the provider",
        arguments: ["other text", "CONTENT", ""])
    func overwrittenUnseen(text: String) async throws {
        let (device, faulty) = try await device()
        try device.writeUnseen("doc", text)
        #expect(try device.text("doc") == text)
        device.metadata.beginRescan()
        #expect(await device.restartedService(faulty).syncNow(timeout: nil) == .settled)
        #expect(memory.contents(at: "doc").map { String(decoding: $0, as: UTF8.self) } == text)
        try await materialize(device)
        #expect(try device.text("doc") == text)
        #expect(try await device.pending().isEmpty)
    }

    @Test("Versions that the provider keeps are listed, newest first; of one that keeps none there are none")
    func earlierVersions() async throws {
        var capabilities = MemoryProvider.full
        capabilities.earlierVersions = true
        let keeping = MemoryProvider(capabilities: capabilities)
        let faulty = FaultyProvider(keeping)
        let device = try Device("two", provider: faulty, clock: clock)
        for text in ["one", "two two", "three three"] {
            try device.write("doc", text)
            #expect(await device.sync() == .settled)
        }
        #expect(try await device.service.earlierVersions(of: "doc").map(\.size.bytes) == [7, 3])
        #expect(try await device.service.earlierVersions(of: "none").isEmpty)
        let oldest = try #require(try await device.service.earlierVersions(of: "doc").last)
        let fetched = try #require(try await device.service.fetchEarlier(oldest.version.rawValue, of: "doc"))
        #expect(try Device.text(of: OwnedDescriptor.open(fetched, O_RDONLY)) == "one")
        #expect(try await device.service.fetchEarlier("none", of: "doc") == nil)
        #expect(try await device.service.fetchEarlier(oldest.version.rawValue, of: "none") == nil)
        var longer = oldest
        longer.size = ByteCount(4)
        let context = try #require(device.service.engine(for: "doc")?.context)
        let short = await #expect(throws: SyncFailure.self) {
            try await Downloader(context: context).fetchEarlier(longer)
        }
        #expect(short?.message.contains("3 bytes arrived") == true)
        // Listed, and let go before it came.
        faulty.inject(Fault(.fetch, .failBefore(ProviderError(.notFound, "expired"))))
        #expect(try await device.service.fetchEarlier(oldest.version.rawValue, of: "doc") == nil)
        keeping.isOnline = false
        let error = await #expect(throws: QuireError.self) {
            try await device.service.fetchEarlier(oldest.version.rawValue, of: "doc")
        }
        #expect(error?.code == .temporary)
        let (other, _) = try await self.device()
        #expect(try await other.service.earlierVersions(of: "doc").isEmpty)
        await #expect(throws: ProviderError.self) { _ = try await memory.earlierVersions(of: "doc") }
    }

    @Test("A program that comes with the number of a placeholder just replaced by its content finds that it is here")
    func justReplaced() async throws {
        let (device, faulty) = try await device()
        let inode = try device.tree.requiredStatus(at: "doc").inode
        try await device.service.materialize(path: "doc", inode: inode)
        #expect(try device.tree.requiredStatus(at: "doc").inode != inode)
        try await device.service.materialize(path: "doc", inode: inode)
        #expect(faulty.count(.fetch) == 1)
        #expect(try device.text("doc") == "content")
    }

    @Test("A document that has the number of a file whose content is still coming does not wait for that")
    func reusedNumber() async throws {
        memory.edit { $0.write("other", "of the other") }
        let (device, faulty) = try await device()
        let gate = Gate()
        faulty.inject(Fault(.fetch, .hold(gate), path: "doc"))
        let (service, inode) = (device.service, try device.tree.requiredStatus(at: "doc").inode)
        let coming = Task { try await service.materialize(path: "doc", inode: inode) }
        await gate.waitForArrivals(1)
        try await service.materialize(path: "other", inode: inode)
        #expect(try device.text("other") == "of the other")
        #expect(try device.isDataless("doc"))
        gate.open()
        try await coming.value
        #expect(try device.text("doc") == "content")
    }

    @Test(
        "A document that is renamed while its content comes is not downloaded twice at a time")
    func renamedMeanwhile() async throws {
        let (device, faulty) = try await device()
        let gate = Gate()
        faulty.inject(Fault(.fetch, .hold(gate)))
        let (service, inode) = (device.service, try device.tree.requiredStatus(at: "doc").inode)
        let first = Task { try await service.materialize(path: "doc", inode: inode) }
        await gate.waitForArrivals(1)
        try device.rename("doc", "moved")
        let second = Task { try await service.materialize(path: "moved", inode: inode) }
        for _ in 0..<1000 { await Task.yield() }
        #expect(faulty.count(.fetch) == 1)
        gate.open()
        // Who asked under a former name asks again.
        _ = (try? await first.value, try? await second.value)
        #expect(try await device.open("moved") == "content")
    }

    @Test("A program that is interrupted stops waiting; the download goes on for the others")
    func interrupted() async throws {
        let (device, faulty) = try await device()
        let gate = Gate()
        faulty.inject(Fault(.fetch, .hold(gate)))
        let inode = try device.tree.requiredStatus(at: "doc").inode
        let service = device.service
        let impatient = Task { () async -> Int32? in
            do throws(MaterializeError) {
                try await service.materialize(path: "doc", inode: inode)
                return nil
            } catch {
                return error.errno
            }
        }
        await gate.waitForArrivals(1)
        let patient = Task { (try? await service.materialize(path: "doc", inode: inode)) != nil }
        impatient.cancel()
        #expect(await impatient.value == EINTR)
        gate.open()
        #expect(await patient.value)
        #expect(try device.text("doc") == "content")
    }

    @Test("Without the provider an open fails with ENETUNREACH and leaves the placeholder as it is")
    func offline() async throws {
        let (device, faulty) = try await device()
        faulty.isAvailable = false
        #expect(await errno(device) == ENETUNREACH)
        #expect(try device.isDataless("doc"))
        faulty.isAvailable = true
        #expect(await errno(device) == nil)
    }

    @Test("A full disk at the download is the program's ENOSPC, and nothing is lost")
    func noSpace() async throws {
        let (device, faulty) = try await device()
        faulty.inject(Fault(.fetch, .failBefore(ProviderError(.noSpace, "the disk is full"))))
        #expect(await errno(device) == ENOSPC)
        #expect(try device.isDataless("doc"))
        #expect(await errno(device) == nil)
    }

    @Test("Where the provider has a newer version by then, that one comes")
    func newer() async throws {
        let (device, _) = try await device()
        memory.edit { $0.write("doc", "newer content") }
        #expect(await errno(device) == nil)
        #expect(try device.text("doc") == "newer content")
        #expect(await device.sync() == .settled)
        #expect(try device.text("doc") == "newer content")
    }

    @Test("Where the document was renamed at the provider, its content is still found")
    func renamedThere() async throws {
        let (device, _) = try await device()
        memory.edit { $0.move("doc", to: "other") }
        let inode = try device.tree.requiredStatus(at: "doc").inode
        _ = try? await device.service.materialize(path: "doc", inode: inode)
        #expect(await device.sync() == .settled)
        #expect(try await device.open("other") == "content")
    }

    @Test("A changed document that is here is refreshed, a dataless one stays so")
    func refresh() async throws {
        let (device, _) = try await device()
        memory.edit { $0.write("doc", "second") }
        await device.sync()
        #expect(try device.isDataless("doc"))
        #expect(try await device.open("doc") == "second")
        memory.edit { $0.write("doc", "third") }
        await device.sync()
        #expect(try device.text("doc") == "third")
    }

    @Test("What programs set on a document stays on it when its content goes, comes, or is another's")
    func attributes() async throws {
        let (device, _) = try await device()
        let note = Array("kept".utf8)
        /// For reading too: a descriptor is all it takes to set one.
        func set(_ name: String) throws { try device.tree.openForReading("doc").setAttribute(name, note, "doc") }
        func has(_ names: String...) throws -> Bool {
            let file = try device.tree.openForReading("doc")
            return try names.allSatisfy { try file.attribute($0, "doc") == note }
        }
        try set("user.first")
        device.index.record(.attributesChanged(try device.tree.requiredStatus(at: "doc"), writersOpen: false))
        #expect(try await device.open("doc") == "content")
        #expect(try has("user.first"))
        try set("user.second")
        device.index.record(.attributesChanged(try device.tree.requiredStatus(at: "doc"), writersOpen: false))
        #expect(await device.sync() == .settled)
        #expect(try await device.service.evict("doc") == 1)
        #expect(try device.isDataless("doc") && has("user.first", "user.second"))
        memory.edit { $0.write("doc", "other") }
        #expect(await device.sync() == .settled)
        #expect(try device.isDataless("doc") && has("user.first", "user.second"))
        #expect(try await device.open("doc") == "other")
        memory.edit { $0.write("doc", "third") }
        #expect(await device.sync() == .settled)
        #expect(try device.text("doc") == "third")
        #expect(try has("user.first", "user.second"))
    }

    @Test("The service follows changes on both sides by itself, and ends when cancelled")
    func runsByItself() async throws {
        let (device, _) = try await device()
        let service = device.service
        let running = Task { await service.run() }
        try device.write("mine", "text")
        while memory.contents(at: "mine") == nil {
            clock.advance(.milliseconds(50))
            service.wake()
            await Task.yield()
        }
        memory.edit { $0.write("theirs", "text") }
        while try device.tree.status(at: "theirs") == nil {
            clock.advance(.seconds(1))
            service.wake()
            await Task.yield()
        }
        running.cancel()
        await running.value
    }
}
