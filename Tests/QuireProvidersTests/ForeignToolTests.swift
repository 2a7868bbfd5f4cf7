import Glibc
import QuireCore
import QuireProviders
import Synchronization
import Testing

/// Programs that know nothing of Quire, editing in the folder at the worst moment.
@Suite("Foreign tools in a folder")
struct ForeignToolTests {
    @Test(
        "Every edit in place gives a new version, also of the same size within one tick",
        arguments: ProviderForm.folders)
    func editInPlace(form: ProviderForm) async throws {
        let bench = try await form.open()
        var seen: Set<ProviderVersion> = [try await bench.put("a", "0").version]
        for round in 1...9 {
            Plain.write("\(round)", to: bench.file("a"))
            let item = try #require(try await bench.provider.item(at: "a"))
            #expect(seen.insert(item.version).inserted, "round \(round)")
            #expect(try await bench.text("a") == "\(round)")
            #expect(try await bench.listing()["a"]?.version == item.version)
        }
    }

    @Test("chmod keeps the version; mv keeps identifier and version", arguments: ProviderForm.folders)
    func moveAndMode(form: ProviderForm) async throws {
        let bench = try await form.open()
        let item = try await bench.put("a", "x")
        Shell.run("chmod", "600", bench.file("a"))
        #expect(try await bench.provider.item(at: "a")?.version == item.version)
        Shell.run("mv", bench.file("a"), bench.file("b"))
        let moved = try #require(try await bench.provider.item(at: "b"))
        #expect(moved.version == item.version && moved.identifier == item.identifier && moved.mode == 0o600)
    }

    @Test("A write between comparison and swap survives, and the put is refused", arguments: ProviderForm.folders)
    func slippedIn(form: ProviderForm) async throws {
        for replaces in [false, true] {
            let (bench, arm) = try await benchWithHook(form) { bench in
                if replaces {
                    Plain.write("foreign", to: bench.file("new"))
                    rename(bench.file("new"), bench.file("a"))
                } else {
                    Plain.write("foreign", to: bench.file("a"))
                }
            }
            let one = try await bench.put("a", "one")
            arm()
            #expect(await refusal { try await bench.put("a", "ours", .version(one.version)) } == .conditionFailed)
            #expect(try await bench.text("a") == "foreign")
            #expect(bench.leftovers.isEmpty)
            #expect(try await Set(bench.listing().keys) == ["a"])
        }
    }

    @Test("A file created between look and publication survives", arguments: ProviderForm.folders)
    func slippedInAtCreation(form: ProviderForm) async throws {
        let (bench, arm) = try await benchWithHook(form) { Plain.write("foreign", to: $0.file("a")) }
        arm()
        #expect(await refusal { try await bench.put("a", "ours", .absent) } == .conditionFailed)
        #expect(try await bench.text("a") == "foreign")
        #expect(bench.leftovers.isEmpty)
    }

    @Test("A directory moved away by another device while a put waits is not written to")
    func parentMoved() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        try await bench.directory("d")
        let content = bench.content([UInt8](repeating: 1, count: 3 << 20))
        let lock = open(bench.file(".quire/lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        #expect(flock(lock, LOCK_EX) == 0)
        let put = Task {
            await refusal {
                try await bench.provider.put(
                    "d/a", content: content, attributes: Bench.attributes(), expecting: .absent)
            }
        }
        // Staged in full means that the put is about to wait for the lock, with the directory open.
        while !bench.isStaged(size: 3 << 20) { await Task.yield() }
        rename(bench.file("d"), bench.file("e"))
        close(lock)
        #expect(await put.value == .parentMissing)
        #expect(try await Set(bench.listing().keys) == ["e"])
        #expect(bench.leftovers.isEmpty)
    }

    @Test("A document removed between comparison and swap stays removed", arguments: ProviderForm.folders)
    func removedMeanwhile(form: ProviderForm) async throws {
        let (bench, arm) = try await benchWithHook(form) { unlink($0.file("a")) }
        let one = try await bench.put("a", "one")
        arm()
        #expect(await refusal { try await bench.put("a", "ours", .version(one.version)) } == .conditionFailed)
        #expect(try await bench.provider.item(at: "a") == nil)
        #expect(bench.leftovers.isEmpty)
    }

    @Test("A write between comparison and deletion survives", arguments: ProviderForm.folders)
    func slippedInAtDeletion(form: ProviderForm) async throws {
        let (bench, arm) = try await benchWithHook(form) { Plain.write("foreign", to: $0.file("a")) }
        let one = try await bench.put("a", "one")
        arm()
        let code = await refusal { try await bench.provider.delete("a", expecting: one.version) }
        #expect(code == .conditionFailed)
        #expect(try await bench.text("a") == "foreign")
        #expect(bench.leftovers.isEmpty)
    }

    @Test("A write between comparison and move is not carried away", arguments: ProviderForm.folders)
    func slippedInAtMove(form: ProviderForm) async throws {
        let (bench, arm) = try await benchWithHook(form) { Plain.write("foreign", to: $0.file("a")) }
        let one = try await bench.put("a", "one")
        arm()
        #expect(
            await refusal { try await bench.provider.move("a", to: "b", expecting: one.version) } == .conditionFailed)
        #expect(try await bench.text("a") == "foreign")
        #expect(try await bench.provider.item(at: "b") == nil)
    }

    @Test(
        "Two foreign writes around a swap: the newest is in place and the older is kept",
        arguments: ProviderForm.folders)
    func slippedInTwice(form: ProviderForm) async throws {
        let box = Armed()
        let hooks = FolderHooks(
            beforeSwap: { _ in box.run { replaceFile($0, "older") } },
            beforeUndo: { _ in box.run { replaceFile($0, "newest") } })
        let bench = try await form.open(hooks: hooks)
        let one = try await bench.put("a", "one")
        box.arm(bench.file(""))
        #expect(await refusal { try await bench.put("a", "ours", .version(one.version)) } == .conditionFailed)
        #expect(try await bench.text("a") == "newest")
        #expect(bench.leftovers.isEmpty)
        let kept = Plain.names(in: bench.file(".quire/kept"))
        #expect(kept.count == 1)
        #expect(Plain.text(bench.file(".quire/kept/\(kept.first ?? "")")) == "older")
    }

    @Test(
        "While a program has the document open for writing, it is neither replaced nor deleted",
        arguments: ProviderForm.folders)
    func openForWriting(form: ProviderForm) async throws {
        let bench = try await form.open()
        let one = try await bench.put("a", "one")
        let descriptor = open(bench.file("a"), O_WRONLY | O_APPEND | O_CLOEXEC)
        #expect(await refusal { try await bench.put("a", "ours", .version(one.version)) } == .failed)
        #expect(await refusal { try await bench.provider.delete("a", expecting: one.version) } == .failed)
        #expect(
            await refusal {
                try await bench.provider.setAttributes("a", Bench.attributes(0o600), expecting: one.version)
            } == .failed)
        #expect(write(descriptor, "+", 1) == 1)
        close(descriptor)
        #expect(try await bench.text("a") == "one+")
        #expect(await refusal { try await bench.put("a", "ours", .version(one.version)) } == .conditionFailed)
        let now = try #require(try await bench.provider.item(at: "a"))
        try await bench.put("a", "ours", .version(now.version))
        #expect(bench.leftovers.isEmpty)
    }

    @Test("A document edited while it is fetched is refused and leaves no file", arguments: ProviderForm.folders)
    func editedDuringFetch(form: ProviderForm) async throws {
        let box = Armed()
        let hooks = FolderHooks(duringFetch: { _ in box.run { Plain.write("+", to: $0 + "/a", append: true) } })
        let bench = try await form.open(hooks: hooks)
        let item = try await bench.provider.put(
            "a", content: bench.content([UInt8](repeating: 1, count: 3 << 20)), attributes: Bench.attributes(),
            expecting: .absent)
        box.arm(bench.file(""))
        let target = bench.work.appending("out")
        #expect(
            await refusal { try await bench.provider.fetch("a", version: item.version, to: target) { _ in } }
                == .conditionFailed)
        #expect(Plain.read(target) == nil)
    }

    @Test("A directory moved while a listing is made is never missing from it", arguments: 1...8)
    func movedDuringListing(start: Int) async throws {
        let mover = Mover(start: start, moves: 4)
        let bench = try await ProviderForm.folderOnTmpfs.open(hooks: FolderHooks(afterDirectory: { _ in mover.step() }))
        for name in ["d0", "d1", "d2", "d3"] {
            try await bench.directory(RelativePath([FileName(unchecked: Array(name.utf8))]))
        }
        try await bench.directory("d0/moving")
        try await bench.put("d0/moving/doc", "x")
        for _ in 0..<5 {
            mover.arm(bench.file(""))
            let documents = try await bench.listing().keys.filter { $0.name?.string == "doc" }
            #expect(documents.count == 1)
        }
    }

    @Test(
        "A poll says that nothing changed when nothing did, and whatever else was done is in the listing that it gives")
    func polls() async throws {
        let bench = try await ProviderForm.folderOnTmpfs.open()
        var path = RelativePath.root
        // Deeper than directories are kept open.
        for _ in 0..<70 {
            path = path.appending("d" as RelativePath)
            try await bench.directory(path)
        }
        try await bench.put("d/doc", "x")
        let root = bench.file("")
        let edits = [
            "touch -d 2001-01-01 \(path)/new", "chmod 600 d/doc", "mv d/d d/e", "ln -s doc d/link", "rm d/doc",
        ]
        guard case .everything(_, var cursor) = try await bench.provider.changes(since: nil) else {
            Issue.record("no listing without a cursor")
            return
        }
        for edit in edits {
            Shell.run("sh", "-c", "cd \(root) && \(edit)")
            guard case .everything(let items, let next) = try await bench.provider.changes(since: cursor) else {
                Issue.record("\(edit) was not seen")
                continue
            }
            #expect(Set(items.map(\.path)) == Set(try await bench.listing().keys))
            cursor = next
            guard case .none(cursor) = try await bench.provider.changes(since: cursor) else {
                Issue.record("something is said to have changed after \(edit)")
                continue
            }
        }
    }

    private func benchWithHook(
        _ form: ProviderForm, _ body: @escaping @Sendable (Bench) -> Void
    ) async throws -> (Bench, arm: () -> Void) {
        let box = OneShot()
        let bench = try await form.open(hooks: FolderHooks(beforeSwap: { _ in box.take().map(body) }))
        return (bench, { box.put(bench) })
    }
}

/// Replaces `a` in the folder the way careful programs do.
private func replaceFile(_ root: String, _ text: String) {
    Plain.write(text, to: root + "/new")
    rename(root + "/new", root + "/a")
}

/// Runs what a hook does once it was armed, with the folder's path.
private final class Armed: Sendable {
    private let root = Lock<String?>(nil)

    func arm(_ path: String) { root.withLock { $0 = path } }

    func run(_ body: (String) -> Void) {
        if let path = root.withLock({ $0 }) { body(path) }
    }
}

/// Hands a bench to a hook, once.
private final class OneShot: Sendable {
    private let bench = Lock<Bench?>(nil)

    func put(_ value: Bench) { bench.withLock { $0 = value } }

    func take() -> Bench? {
        bench.withLock { bench in
            defer { bench = nil }
            return bench
        }
    }
}

/// Moves `moving` on to the next of four directories, at some steps of a listing.
private final class Mover: Sendable {
    private struct State {
        var root: String?
        var step = 0
        var place = 0
    }

    private let state = Lock(State())
    private let window: Range<Int>

    init(start: Int, moves: Int) { self.window = start..<start + moves }

    func arm(_ root: String) {
        state.withLock { state in
            state.root = root
            state.step = 0
        }
    }

    func step() {
        let move = state.withLock { state -> (String, String)? in
            guard let root = state.root else { return nil }
            state.step += 1
            guard window.contains(state.step) else { return nil }
            let from = "\(root)/d\(state.place)/moving"
            state.place = (state.place + 1) % 4
            return (from, "\(root)/d\(state.place)/moving")
        }
        if let move { rename(move.0, move.1) }
    }
}
