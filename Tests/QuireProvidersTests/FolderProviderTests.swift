import Glibc
import QuireCore
import QuireProviders
import Testing

/// What a folder promises beyond the contract: about disks that go away and programs that know nothing of Quire.
@Suite("Folder provider")
struct FolderProviderTests {
    @Test("A folder that is not there is unavailable, at first use too, and is not made", arguments: [nil, "some-id"])
    func missingRoot(expected: String?) async throws {
        let work = try TemporaryDirectory()
        let provider = FolderProvider(root: work.appending("no"))
        #expect(await refusal { try await provider.connect(expected: expected) } == .unavailable)
        #expect(access(work.appending("no"), F_OK) != 0)
    }

    @Test("An empty folder is not the store that was expected")
    func emptied() async throws {
        let work = try TemporaryDirectory()
        let provider = FolderProvider(root: work.path)
        #expect(await refusal { try await provider.connect(expected: "some-id") } == .unavailable)
        #expect(Plain.names(in: work.path).isEmpty, "nothing is set up in a folder that may be a mount point")
    }

    @Test("Calls before connect are refused")
    func notConnected() async throws {
        let work = try TemporaryDirectory()
        _ = try await FolderProvider(root: work.path).connect(expected: nil)
        #expect(await refusal { try await FolderProvider(root: work.path).changes(since: nil) } == .unavailable)
    }

    @Test("A folder whose mark went away is offline, not empty", arguments: ProviderForm.folders)
    func markerRemoved(form: ProviderForm) async throws {
        let bench = try await form.open()
        let item = try await bench.put("a", "x")
        Shell.run("mv", bench.file(".quire"), bench.work.appending("aside"))
        #expect(await refusal { try await bench.provider.changes(since: nil) } == .unavailable)
        #expect(await refusal { try await bench.provider.item(at: "a") } == .unavailable)
        #expect(await refusal { try await bench.put("b", "x") } == .unavailable)
        #expect(await refusal { try await bench.provider.delete("a", expecting: item.version) } == .unavailable)
        #expect(await refusal { try await bench.provider.freeSpace() } == .unavailable)
        Shell.run("mv", bench.work.appending("aside"), bench.file(".quire"))
        #expect(try await bench.text("a") == "x")
        Shell.run("mv", bench.file(""), bench.work.appending("unmounted"))
        #expect(await refusal { try await bench.provider.changes(since: nil) } == .unavailable)
        Shell.run("mv", bench.work.appending("unmounted"), String(bench.file("").dropLast()))
        #expect(try await bench.text("a") == "x")
    }

    @Test("Another store at the same place is unavailable; the same store on another disk is not")
    func anotherStore() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        try await bench.put("a", "x")
        let mark = try #require(Plain.text(bench.file(".quire/store.json")))
        Shell.run("rm", bench.file(".quire/store.json"))
        let stranger = try await FolderProvider(root: bench.file("")).connect(expected: nil)
        #expect(stranger != bench.identity)
        #expect(await refusal { try await bench.provider.changes(since: nil) } == .unavailable)
        #expect(await refusal { try await bench.provider.connect(expected: bench.identity) } == .unavailable)
        Shell.run("rm", bench.file(".quire/store.json"))
        Plain.write(mark, to: bench.file(".quire/store.json"))
        #expect(try await bench.text("a") == "x", "a mark that is a new file but says the same is the same store")
    }

    @Test(
        "A mark that is damaged or of a newer format is refused",
        arguments: ["", "{", "{\"format\":99,\"identity\":\"x\"}"])
    func damagedMark(text: String) async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        Plain.write(text, to: bench.file(".quire/store.json"))
        #expect(await refusal { try await bench.provider.connect(expected: nil) } == .unavailable)
        #expect(await refusal { try await bench.provider.changes(since: nil) } == .unavailable)
        #expect(Plain.text(bench.file(".quire/store.json")) == text)
    }

    @Test("Daemons that set up one folder at the same time agree on its identity")
    func identityRace() async throws {
        for _ in 0..<20 {
            let work = try TemporaryDirectory()
            let identities = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { try await FolderProvider(root: work.path).connect(expected: nil) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(identities.count == 1)
            #expect(Plain.names(in: work.appending(".quire/tmp")).isEmpty)
        }
    }

    @Test("Documents that were there before are listed; what cannot be synced is not")
    func existingDocuments() async throws {
        let work = try TemporaryDirectory()
        Shell.run("mkdir", "-p", work.appending("d/e"))
        Plain.write("x", to: work.appending("d/e/f"))
        Shell.run("ln", "-s", "d/e", work.appending("link"))
        Shell.run("mkfifo", work.appending("pipe"))
        let provider = FolderProvider(root: work.path)
        _ = try await provider.connect(expected: nil)
        guard case .everything(let items, _) = try await provider.changes(since: nil) else { return }
        #expect(Set(items.map(\.path)) == ["d", "d/e", "d/e/f", "link"])
        #expect(items.first { $0.path == "link" }?.symlinkTarget == Array("d/e".utf8))
        #expect(try await provider.item(at: "pipe") == nil)
        #expect(
            await refusal { try await provider.createDirectory("pipe", attributes: Bench.attributes()) }
                == .conditionFailed)
    }

    @Test("A symbolic link on the way is not followed: nothing is below it")
    func linkOnTheWay() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        Plain.write("secret", to: bench.work.appending("outside"))
        Shell.run("ln", "-s", bench.work.path, bench.file("link"))
        #expect(try await bench.provider.item(at: "link/outside") == nil)
        #expect(await refusal { try await bench.put("link/new", "x") } == .parentMissing)
        #expect(await refusal { try await bench.directory("link/new") } == .parentMissing)
        #expect(await refusal { try await bench.provider.delete("link/outside", expecting: nil) } == .notFound)
        #expect(Plain.text(bench.work.appending("outside")) == "secret")
        #expect(try await bench.listing().count == 1)
    }

    @Test(
        "An unreadable directory is unseen",
        .enabled(if: geteuid() != 0, "root reads all"))
    func unreadable() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        try await bench.directory("d")
        Shell.run("chmod", "0", bench.file("d"))
        guard case .everything(let items, _) = try await bench.provider.changes(since: nil) else {
            throw ProviderError(.failed, "not everything is listed")
        }
        #expect(items.map(\.path) == ["d"] && items.first?.unseen != nil)
        Shell.run("chmod", "755", bench.file("d"))
    }

    @Test("Names of one inode carry no identifier; single names do")
    func hardLinks() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        #expect(try await bench.put("a", "x").identifier != nil)
        Shell.run("ln", bench.file("a"), bench.file("b"))
        let items = try await bench.listing()
        #expect(items["a"]?.identifier == nil && items["b"]?.identifier == nil)
        #expect(items["a"]?.version == items["b"]?.version)
    }

    @Test("Probing a usual Linux disk finds every ability", arguments: ProviderForm.folders)
    func capabilities(form: ProviderForm) async throws {
        let capabilities = try await form.open().provider.capabilities
        #expect(capabilities == MemoryProvider.full.with(granularity: .milliseconds(20)))
    }

    @Test("Cancelling ends a wait for the lock that another daemon holds, and leaves nothing staged")
    func cancelledAtTheLock() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        let lock = open(bench.file(".quire/lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        #expect(flock(lock, LOCK_EX) == 0)
        let put = Task { await refusal { try await bench.put("a", "x") } }
        put.cancel()
        #expect(await put.value == .cancelled)
        close(lock)
        #expect(bench.leftovers.isEmpty)
        try await bench.put("a", "y")
    }

    @Test("Cancelling ends a fetch between two chunks and leaves no file")
    func cancelledFetch() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        let content = bench.content([UInt8](repeating: 1, count: 4 << 20))
        let item = try await bench.provider.put(
            "a", content: content, attributes: Bench.attributes(), expecting: .absent)
        let target = bench.work.appending("out")
        let seen = Cancellation()
        let gate = Gate()
        let fetch = Task {
            await gate.pass()
            return await refusal {
                try await bench.provider.fetch("a", version: item.version, to: target) { _ in
                    seen.cancel()
                    while Plain.read(bench.work.appending("go")) == nil { sched_yield() }
                }
            }
        }
        gate.open()
        while !seen.isCancelled { await Task.yield() }
        fetch.cancel()
        Plain.write("", to: bench.work.appending("go"))
        #expect(await fetch.value == .cancelled)
        #expect(Plain.read(target) == nil)
    }

    @Test("Only old leftovers that nobody holds are swept, and bytes in doubt are kept")
    func sweep() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        Plain.write("young", to: bench.file(".quire/tmp/put-1"))
        _ = try await bench.provider.connect(expected: bench.identity)
        #expect(bench.leftovers == ["put-1"])
    }
}

extension ProviderCapabilities {
    func with(granularity: Duration) -> ProviderCapabilities {
        var copy = self
        copy.versionGranularity = granularity
        return copy
    }
}
