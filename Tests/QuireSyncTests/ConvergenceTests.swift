@preconcurrency import Glibc
import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import QuireTestSupport
import Testing

/// What has been written and not knowingly replaced or deleted by somebody who saw it.
private struct Ledger {
    var texts: Set<String> = []
    var count = 0

    mutating func newText(_ device: String) -> String {
        count += 1
        let text = "\(device) \(count) " + String(repeating: "x", count: count % 7)
        texts.insert(text)
        return text
    }
}

@Suite(.timeLimit(.minutes(3))) struct ConvergenceTests {
    private static let names: [FileName] = ["a", "b", "c", "d.txt"]

    private func randomPath(_ random: inout SeededRandom) -> RelativePath {
        random.path(of: Self.names, depth: 3)
    }

    private func randomExisting(_ device: Device, _ random: inout SeededRandom) throws -> RelativePath? {
        random.one(of: try device.listing().keys)
    }

    /// The texts at and below a path; nil when some cannot be had now.
    private func texts(_ path: RelativePath, _ device: Device) async throws -> [String]? {
        var found: [String] = []
        for below in try device.listing().keys where below.isInside(path) {
            guard try device.tree.status(at: below)?.kind == .file else { continue }
            if try device.isDataless(below) {
                do { _ = try await device.open(below) } catch { return nil }
            }
            if let text = try device.text(below) { found.append(text) }
        }
        return found
    }

    /// One random operation, as a user would: some make no sense and are refused.
    private func operate(_ device: Device, _ ledger: inout Ledger, _ random: inout SeededRandom) async throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3:
            let existing = try randomExisting(device, &random)
            let path = Bool.random(using: &random) ? existing ?? randomPath(&random) : randomPath(&random)
            let status = try device.tree.status(at: path)
            guard status == nil || status?.kind == .file,
                try device.tree.status(at: path.parent ?? .root)?.kind == .directory,
                let seen = try await texts(path, device)
            else { return }
            try device.write(path, ledger.newText(device.name))
            ledger.texts.subtract(seen)
        case 4: try? device.makeDirectory(randomPath(&random))
        case 5: try? device.link(randomPath(&random), to: "target \(Int.random(in: 0..<3, using: &random))")
        case 6:
            guard let path = try randomExisting(device, &random), let seen = try await texts(path, device) else {
                return
            }
            try device.remove(path)
            ledger.texts.subtract(seen)
        case 7, 8, 9:
            guard let from = try randomExisting(device, &random) else { return }
            let to = randomPath(&random)
            guard from != to, !to.isInside(from), let seen = try await texts(to, device) else { return }
            do { try device.rename(from, to) } catch { return }
            ledger.texts.subtract(seen)
        case 10:
            guard let path = try randomExisting(device, &random), try device.tree.status(at: path)?.kind != .symlink
            else { return }
            try device.chmod(path, [0o600, 0o644, 0o700, 0o755].randomElement(using: &random) ?? 0o700)
        default:
            guard let path = try randomExisting(device, &random) else { return }
            try device.touch(path)
        }
    }

    private func injectFault(_ provider: FaultyProvider, _ random: inout SeededRandom) {
        let call = ProviderCall.allCases.randomElement(using: &random) ?? .put
        let code: ProviderError.Code = [.failed, .unavailable, .noSpace].randomElement(using: &random) ?? .failed
        let error = ProviderError(code, "injected")
        let effect: Fault.Effect = Bool.random(using: &random) ? .failBefore(error) : .failAfter(error)
        provider.inject(Fault(call, effect, skipping: Int.random(in: 0..<3, using: &random)))
    }

    private func run(
        seed: Int, _ store: any DocumentProvider, other: (any DocumentProvider)? = nil, withFaults: Bool
    ) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let clock = TestClock()
        let providers = [FaultyProvider(store), FaultyProvider(other ?? store)]
        let devices = [
            try Device("one", provider: providers[0], clock: clock),
            try Device("two", provider: providers[1], clock: clock),
        ]
        var ledger = Ledger()
        for step in 0..<40 {
            let which = Int.random(in: 0..<2, using: &random)
            if getenv("QUIRE_TRACE") != nil { fputs("TRACE \(seed) \(step)\n", stderr) }
            switch Int.random(in: 0..<10, using: &random) {
            case 0...6: try await operate(devices[which], &ledger, &random)
            case 7: if withFaults { injectFault(providers[which], &random) }
            case 8: clock.advance(.seconds(Int.random(in: 0..<20, using: &random)))
            default:
                let isUrgent = Bool.random(using: &random)
                for engine in devices[which].service.engines { _ = await engine.round(isUrgent: isUrgent, pulls: true) }
            }
        }
        for provider in providers { provider.clearFaults() }
        clock.advance(.seconds(100))
        var quiet = 0
        for turn in 0..<24 {
            let before = try devices.map { try $0.listing() }
            _ = await devices[turn % 2].service.syncNow(timeout: nil)
            quiet = try devices.map { try $0.listing() } == before ? quiet + 1 : 0
            if quiet >= 3 { break }
        }
        try await check(devices, store, ledger, seed)
    }

    private func check(_ devices: [Device], _ store: any DocumentProvider, _ ledger: Ledger, _ seed: Int) async throws {
        let listings = try devices.map { try $0.listing() }
        #expect(listings[0] == listings[1], "seed \(seed): the devices differ")
        guard case .everything(let items, _) = try await store.changes(since: nil) else { return }
        #expect(Set(items.map(\.path)) == Set(listings[0].keys), "seed \(seed): the provider differs")
        var texts: Set<String> = []
        for device in devices {
            for path in try device.listing().keys where try device.tree.status(at: path)?.kind == .file {
                if let text = try await device.open(path) { texts.insert(text) }
            }
            try await device.index.settle()
            let pending = try await device.pending().map {
                "\($0.local?.path ?? "-") \($0.base?.path ?? "-")"
            }
            #expect(pending == [], "seed \(seed): \(device.name) is not done")
            let parked = try await device.index.parked(.default).map(\.message)
            #expect(parked == [], "seed \(seed): \(device.name) has errors")
        }
        #expect(ledger.texts.subtracting(texts).isEmpty, "seed \(seed): lost \(ledger.texts.subtracting(texts))")
    }

    private var seeds: Range<Int> {
        let rounds = getenv("QUIRE_SYNC_SEEDS").flatMap { Int(String(cString: $0)) } ?? 40
        let first = getenv("QUIRE_SYNC_FIRST_SEED").flatMap { Int(String(cString: $0)) } ?? 1
        return first..<first + rounds
    }

    @Test("Whatever two devices do, both end equal to the provider and no edit is lost")
    func convergence() async throws {
        for seed in seeds { try await run(seed: seed, MemoryProvider(), withFaults: false) }
    }

    @Test("The same with a provider that fails now and then, and whose answers get lost")
    func convergenceWithFaults() async throws {
        for seed in seeds { try await run(seed: seed, MemoryProvider(), withFaults: true) }
    }

    @Test("The same with a provider that tells what changed")
    func convergenceOnJournal() async throws {
        for seed in seeds {
            var capabilities = MemoryProvider.full
            // Otherwise a push makes the next look one at everything.
            capabilities.announcements = true
            capabilities.stableIdentifiers = seed % 2 == 0
            try await run(
                seed: seed, MemoryProvider(capabilities: capabilities, keepsJournal: true), withFaults: seed % 4 == 0)
        }
    }

    @Test("The same with a folder as provider, opened once by each device")
    func convergenceOnFolder() async throws {
        for seed in seeds.prefix(15) {
            let path = "/tmp/quire-sync-folder-\(getpid())-\(seed)"
            mkdir(path, 0o700)
            try await run(seed: seed, FolderProvider(root: path), other: FolderProvider(root: path), withFaults: true)
            try removeTree(path)
        }
    }

    private func removeTree(_ path: String) throws {
        func clear(_ directory: RelativePath, _ tree: DriveTree) throws {
            for entry in try tree.list(directory) {
                let child = directory.appending(entry.name)
                if entry.status.kind == .directory {
                    chmod("\(path)/\(child)", 0o700)
                    try clear(child, tree)
                }
                try tree.remove(child)
            }
        }
        try clear(.root, try DriveTree(opening: path))
        rmdir(path)
    }

    @Test("The same with a provider that recognises no moves")
    func convergenceWithoutIdentifiers() async throws {
        var capabilities = MemoryProvider.full
        capabilities.stableIdentifiers = false
        for seed in seeds { try await run(seed: seed, MemoryProvider(capabilities: capabilities), withFaults: true) }
    }

    @Test("The same with a provider that recognises no moves and cannot move directories")
    func convergenceWithoutDirectoryMoves() async throws {
        var capabilities = MemoryProvider.full
        capabilities.stableIdentifiers = false
        capabilities.directoryMoves = false
        for seed in seeds { try await run(seed: seed, MemoryProvider(capabilities: capabilities), withFaults: false) }
        for seed in seeds { try await run(seed: seed, MemoryProvider(capabilities: capabilities), withFaults: true) }
    }
}
