import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// What `quire sync --confirm-deletes` says is said of what is held at that moment.
@Suite(.timeLimit(.minutes(1))) struct ConfirmedDeletionsTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    private func names(_ letter: String, _ count: Int) -> [RelativePath] {
        (0..<count).map { RelativePath(stringLiteral: "\(letter)\($0)") }
    }

    private func remove(_ paths: [RelativePath]) { memory.edit { tree in for path in paths { tree.remove(path) } } }

    private func round(_ device: Device) async throws -> RoundReport {
        clock.advance(.seconds(120))
        return try await #require(device.service.engines.first).round(isUrgent: true, pulls: true)
    }

    /// A device whose documents, and the directories that they need, are at its provider.
    private func synced(_ paths: [RelativePath], _ provider: any DocumentProvider) async throws -> Device {
        let device = try Device("one", provider: provider, clock: clock)
        for parent in Set(paths.compactMap(\.parent)) where !parent.isRoot { try device.makeDirectory(parent) }
        for path in paths { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        return device
    }

    @Test("While a confirmed deletion waits for a program, what goes missing then is held; that one goes in the end")
    func leftOver() async throws {
        let (first, second) = (names("a", 30), names("b", 20))
        let device = try await synced(first, memory)
        device.openForWriting.insert(try device.tree.requiredStatus(at: first[0]).inode)
        remove(first)
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 30)
        #expect(try await device.service.confirmDeletions() == 30)
        #expect(try await round(device).pull?.left == 1)
        #expect(Set(try device.listing().keys) == [first[0]])

        memory.edit { tree in for path in second { tree.write(path, "content") } }
        _ = try await round(device)
        for path in second { #expect(try await device.open(path) == "content") }
        remove(second)
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 20)
        #expect(Set(try device.listing().keys) == Set(second + [first[0]]))

        device.openForWriting.removeAll()
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 20)
        #expect(Set(try device.listing().keys) == Set(second))
    }

    @Test("Who misses what is told, the first ten by name, and of each document; what is there is not among it")
    func told() async throws {
        let paths = names("a", 30)
        let device = try await synced(paths, memory)
        remove(paths)
        _ = try await round(device)
        try device.write("new", "text")
        #expect(await device.sync() != .settled)
        let report = await device.service.status().held
        #expect(
            report == [
                HeldDeletionsReport(
                    isMissingHere: false, providerName: "main", count: 30,
                    first: Array(paths.sorted { $0.description < $1.description }.prefix(10)))
            ])
        for (path, reason) in [(paths[7], WaitingUpload.Reason?.some(.held)), ("new", nil)] {
            let item = try #require(try await device.index.item(drivePath: path))
            #expect(try await device.service.waiting(item.entry.id)?.reason == reason)
        }
        #expect(try await device.service.confirmDeletions() == 30)
        #expect(await device.service.status().held.isEmpty)
    }

    @Test("What is held stays so when something new comes to the provider, and after a restart, until it is back")
    func notAllAnyMore() async throws {
        let paths = names("a", 30)
        let device = try await synced(paths, memory)
        let restarted = device.restartedService(memory)
        remove(paths)
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 30)
        try device.write("new", "text")
        #expect(await device.sync() != .settled)
        #expect(memory.contents(at: "new") != nil)
        for service in [device.service, restarted] {
            #expect(await service.syncNow(timeout: nil) != .settled)
            #expect(await service.status().heldDeletions == 30)
            #expect(try device.listing().count == 31)
        }
        memory.edit { tree in for path in paths { tree.write(path, "text") } }
        #expect(await device.sync() == .settled)
        // Believed again: few of many.
        remove(Array(paths.prefix(5)))
        #expect(await device.sync() == .settled)
        #expect(try device.listing().count == 26)
    }

    @Test("What is missing at the provider is not evicted, after a restart neither")
    func notEvicted() async throws {
        let paths = names("a", 30)
        let device = try await synced(paths, memory)
        let restarted = device.restartedService(memory)
        remove(paths)
        _ = try await round(device)
        try device.write("new", "text")
        #expect(await device.sync() != .settled)
        // What it holds is not known before it has asked.
        await #expect(throws: QuireError.self) { try await restarted.evict("new") }
        for service in [device.service, restarted] {
            #expect(await service.syncNow(timeout: nil) != .settled)
            for path in paths { await #expect(throws: QuireError.self) { try await service.evict(path) } }
            for path in paths { #expect(try device.text(path) == "text") }
        }
        #expect(try await restarted.evict("new") == 1)
    }

    @Test("Confirming where nothing is held arms nothing, the provider being there or not", arguments: [false, true])
    func nothingHeld(isAway: Bool) async throws {
        let faulty = FaultyProvider(memory)
        let paths = names("a", 30)
        let device = try await synced(paths, faulty)
        if isAway {
            let away = Fault.Effect.failBefore(ProviderError(.unavailable, "away"))
            for call in [ProviderCall.connect, .changes] { faulty.inject(Fault(call, away, times: nil)) }
            _ = try await round(device)
        }
        #expect(try await device.service.confirmDeletions() == 0)
        remove(paths)
        faulty.clearFaults()
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 30)
        #expect(try device.listing().count == 30)
    }

    @Test("Confirming what is missing here confirms nothing of what goes missing at the provider meanwhile")
    func missingHere() async throws {
        let faulty = FaultyProvider(memory)
        let (gone, kept) = (names("a", 30), names("b", 20))
        let device = try await synced(gone + kept, faulty)
        for path in gone { try device.tree.remove(path) }
        device.metadata.beginRescan()
        _ = await device.metadata.rescanFinished()
        let away = Fault.Effect.failBefore(ProviderError(.unavailable, "away"))
        for call in [ProviderCall.connect, .changes, .delete] { faulty.inject(Fault(call, away, times: nil)) }
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 30)
        #expect(try await device.service.confirmDeletions() == 30)
        #expect(await device.service.status().heldDeletions == 0)
        remove(gone + kept)
        faulty.clearFaults()
        for _ in 0..<3 { _ = try await round(device) }
        #expect(await device.service.status().heldDeletions == 20)
        #expect(Set(try device.listing().keys) == Set(kept))
    }

    @Test("What was confirmed while the provider was away, and is there again, is held when it goes missing once more")
    func backAgain() async throws {
        let faulty = FaultyProvider(memory)
        let paths = names("a", 30)
        let device = try await synced(paths + ["open"], faulty)
        let stand = memory.items.map(\.path)
        remove(paths + ["open"])
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 31)
        faulty.inject(
            Fault(.changes, .failBefore(ProviderError(.unavailable, "away")), times: nil))
        #expect(try await device.service.confirmDeletions() == 31)
        _ = try await round(device)
        memory.edit { tree in for path in stand { tree.write(path, "text") } }
        faulty.clearFaults()
        device.openForWriting.insert(try device.tree.requiredStatus(at: "open").inode)
        memory.edit { $0.remove("open") }
        // Not complete: a program has the one that went open.
        _ = try await round(device)
        remove(paths)
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 30)
        #expect(try device.listing().count == 31)
    }

    // MARK: - a provider that is listed now and then

    private let announcing = MemoryProvider.announcing()

    /// A device that has seen its provider list what it has sent.
    private func listed(_ paths: [RelativePath], _ feed: FeedProvider) async throws -> Device {
        let device = try await synced(paths, feed)
        feed.expectListing()
        _ = try await round(device)
        return device
    }

    /// A device that holds what is missing at its provider.
    private func holding(_ paths: [RelativePath], _ feed: FeedProvider) async throws -> Device {
        let device = try await listed(paths, feed)
        announcing.edit { tree in for path in paths { tree.remove(path) } }
        feed.expectListing()
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == paths.count)
        return device
    }

    @Test("What is held stays held, unlisted, while the provider tells of nothing new, and can be confirmed then")
    func nothingNew() async throws {
        let feed = FeedProvider(announcing)
        let device = try await holding(names("a", 30), feed)
        let listings = feed.listings
        for _ in 0..<3 { _ = try await round(device) }
        #expect(await device.service.status().heldDeletions == 30)
        #expect(feed.listings == listings)
        // A listing that shows the same.
        feed.expectListing()
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 30)
        #expect(try device.listing().count == 30)
        #expect(try await device.service.confirmDeletions() == 30)
        #expect(await device.sync() == .settled)
        #expect(try device.listing().isEmpty)
    }

    @Test("What is told of other documents takes nothing out of what is held, and costs no listing")
    func otherNews() async throws {
        let feed = FeedProvider(announcing)
        let device = try await holding(names("a", 30), feed)
        let listings = feed.listings
        announcing.edit { $0.write("new", "content") }
        feed.tell(announcing.items)
        for _ in 0..<2 { _ = try await round(device) }
        #expect(try await device.open("new") == "content")
        #expect(await device.service.status().heldDeletions == 30)
        #expect(feed.listings == listings)
    }

    @Test("What is held is not removed when told to be missing, and no more held when told to be there")
    func toldAgain() async throws {
        let feed = FeedProvider(announcing)
        let paths = names("a", 30)
        let device = try await holding(paths, feed)
        feed.tell(removed: Array(paths.prefix(2)))
        _ = try await round(device)
        #expect(try device.listing().count == 30)
        #expect(await device.service.status().heldDeletions == 30)
        announcing.edit { $0.write(paths[0], "again") }
        feed.tell(announcing.items)
        _ = try await round(device)
        #expect(try await device.open(paths[0]) == "again")
        #expect(await device.service.status().heldDeletions == 29)
    }

    @Test("What is told of a directory takes nothing out of what is held below, unless it is told to be gone, too")
    func toldAbove() async throws {
        let feed = FeedProvider(announcing)
        let paths = names("d/a", 30)
        let device = try await listed(paths, feed)
        announcing.edit { tree in for path in paths + ["d"] { tree.remove(path) } }
        feed.expectListing()
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 31)
        announcing.edit { $0.write("d", .directory) }
        feed.tell(announcing.items)
        for _ in 0..<2 { _ = try await round(device) }
        #expect(await device.service.status().heldDeletions == 30)
        announcing.edit { $0.remove("d") }
        feed.tell(removed: ["d"])
        for _ in 0..<2 { _ = try await round(device) }
        #expect(await device.service.status().heldDeletions == 31)
        #expect(try device.listing().count == 31)
        #expect(try await device.service.confirmDeletions() == 31)
        #expect(await device.sync() == .settled)
        #expect(try device.listing().isEmpty)
    }

    @Test("What is at the provider again as it was is no more held after the next listing")
    func undone() async throws {
        let feed = FeedProvider(announcing)
        let paths = names("a", 30)
        let device = try await listed(paths, feed)
        var before: MemoryTree?
        announcing.edit { tree in
            before = tree
            for path in paths { tree.remove(path) }
        }
        feed.expectListing()
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 30)
        _ = try await round(device)
        let restored = try #require(before)
        announcing.edit { $0 = restored }
        feed.expectListing()
        _ = try await round(device)
        #expect(await device.service.status().heldDeletions == 0)
        #expect(try await device.service.confirmDeletions() == 0)
        #expect(try device.listing().count == 30)
    }

    // MARK: - after a start

    @Test("Right after a start, what is missing at the provider is looked for before it is confirmed")
    func startedThere() async throws {
        let paths = names("a", 30)
        let device = try await synced(paths, memory)
        remove(paths)
        let service = device.restartedService(memory)
        #expect(try await service.confirmDeletions() == 30)
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(try device.listing().isEmpty)
    }

    @Test("Right after a start, what is missing here is looked for before it is confirmed")
    func startedHere() async throws {
        let paths = names("a", 30)
        let device = try await synced(paths, memory)
        for path in paths { try device.tree.remove(path) }
        device.metadata.beginRescan()
        let service = device.restartedService(memory)
        #expect(try await service.confirmDeletions() == 30)
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(memory.items.isEmpty)
    }

    @Test("Right after a start, where the provider cannot be asked, nothing is known", arguments: [true, false])
    func startedAway(hangs: Bool) async throws {
        let faulty = FaultyProvider(memory)
        let paths = names("a", 30)
        let device = try await synced(paths, faulty)
        remove(paths)
        let gate = Gate()
        let away = Fault.Effect.failBefore(ProviderError(.unavailable, "away"))
        faulty.inject(Fault(.changes, hangs ? .hold(gate) : away, times: nil))
        let service = device.restartedService(faulty)
        #expect(try await service.confirmDeletions(timeout: .seconds(hangs ? 1 : 60)) == nil)
        faulty.clearFaults()
        gate.open()
        #expect(try await service.confirmDeletions() == 30)
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(try device.listing().isEmpty)
    }
}
