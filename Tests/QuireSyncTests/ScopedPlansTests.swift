import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import QuireTestSupport
import Testing

/// What a pull plans with the bases in the scope of some changes is what it would plan with all of them.
@Suite(.timeLimit(.minutes(3))) struct ScopedPlansTests {
    private static let names: [FileName] = ["a", "b", "c", "d", "e"]

    private func path(_ random: inout SeededRandom) -> RelativePath { random.path(of: Self.names, depth: 4) }

    /// What another device might do. Of moves many: they are what goes wrong.
    ///
    /// - Parameter onlyGrows: it adds and edits, and nothing goes or moves.
    private func change(_ tree: inout MemoryTree, _ random: inout SeededRandom, onlyGrows: Bool) {
        let (new, old) = (path(&random), random.one(of: tree.nodes.keys) ?? "a")
        switch Int.random(in: 0..<(onlyGrows ? 4 : 10), using: &random) {
        case 0, 1: if isDirectory(new.parent, tree) && tree.nodes[new] == nil { tree.write(new, "new") }
        case 2: if isDirectory(new.parent, tree) && tree.nodes[new] == nil { tree.write(new, .directory) }
        case 3: if tree.nodes[old]?.kind == .file { tree.write(old, "changed \(random.next())") }
        case 4: tree.remove(old)
        case 5:
            // Another of the same name.
            tree.remove(old)
            if isDirectory(old.parent, tree) { tree.write(old, Bool.random(using: &random) ? .directory : .file([1])) }
        default:
            guard isDirectory(new.parent, tree), !new.isInside(old), !old.isInside(new) else { return }
            if tree.nodes[new] != nil { tree.remove(new) }
            tree.move(old, to: new)
        }
    }

    private func isDirectory(_ path: RelativePath?, _ tree: MemoryTree) -> Bool {
        path.map { $0.isRoot || tree.nodes[$0]?.kind == .directory } ?? false
    }

    /// What its user might do; some makes no sense and is refused.
    private func change(_ device: Device, _ random: inout SeededRandom) throws {
        let (new, old) = (path(&random), random.one(of: try device.listing().keys) ?? "a")
        let isThere = try device.tree.status(at: new) != nil
        switch Int.random(in: 0..<10, using: &random) {
        case 0: if !isThere { try? device.write(new, "here") }
        case 1: if !isThere { try? device.makeDirectory(new) }
        case 2: try? device.remove(old)
        case 3:
            try? device.remove(old)
            try? device.makeDirectory(old)
        case 4: try? device.chmod(old, 0o700)
        // What a pull that ended early leaves.
        case 5: if Int.random(in: 0..<10, using: &random) == 0 { try? device.rename(old, transit(old)) }
        default: if !new.isInside(old) { try? device.rename(old, new) }
        }
    }

    private func transit(_ path: RelativePath) -> RelativePath {
        (path.parent ?? .root).appending(TransitName.make())
    }

    @Test("Whatever changed here and there", arguments: [true, false])
    func plans(identifiers: Bool) async throws {
        var (units, spared, planned, parts) = (0, 0, 0, 0)
        for seed in 1...60 {
            var random = SeededRandom(seed: UInt64(seed))
            var capabilities = MemoryProvider.full
            capabilities.stableIdentifiers = identifiers
            let provider = MemoryProvider(capabilities: capabilities)
            let device = try Device("one", provider: provider, clock: TestClock())
            provider.edit { tree in
                for _ in 0..<40 {
                    let new = path(&random)
                    if isDirectory(new.parent, tree), tree.nodes[new] == nil {
                        tree.write(new, Int.random(in: 0..<3, using: &random) > 0 ? .directory : .file([1]))
                    }
                }
            }
            await device.sync()
            for _ in 0..<6 {
                for _ in 0..<Int.random(in: 0..<4, using: &random) { try change(device, &random) }
                provider.edit { tree in
                    let onlyGrows = seed % 3 == 0
                    for _ in 0..<Int.random(in: 1..<(onlyGrows ? 12 : 4), using: &random) {
                        change(&tree, &random, onlyGrows: onlyGrows)
                    }
                }
                let (some, count) = try await device.expectPlansOfParts(provider, seed: seed)
                (planned, parts) = (planned + some, parts + count)
                for _ in 0..<3 {
                    let (some, left) = try await device.expectScopedPlans(provider, &random, seed: seed)
                    (units, spared) = (units + some, spared + left)
                }
            }
        }
        // Otherwise nothing was compared, or all was read.
        #expect(units > 1000)
        #expect(spared > 1000)
        #expect(planned > 1000)
        #expect(parts > 100)
    }
}

extension Device {
    /// What is planned for some of the provider's changes with the bases in their scope is what is planned with all bases, but
    /// for what only this device changed.
    ///
    /// - Parameter seed: for whoever has to find the case again.
    /// - Returns: how many units were compared, and how many bases were left out.
    fileprivate func expectScopedPlans(
        _ provider: MemoryProvider, _ random: inout SeededRandom, seed: Int
    ) async throws -> (units: Int, spared: Int) {
        try await index.settle()
        let all = try await index.tree(.default, root: .root) { $0 }
        let items = provider.items
        let there = Dictionary(items.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        let known = Dictionary(all.map { ($0.record.path, $0.record) }, uniquingKeysWith: { first, _ in first })
        // Some of what changed, and of what did not; a directory that is another is in both.
        var changed = items.filter { item in
            let isNew = known[item.path].map { $0.version != item.version || $0.kind != item.kind } ?? true
            return Int.random(in: 0..<10, using: &random) < (isNew ? 8 : 1)
        }
        var removed = known.keys.filter { there[$0] == nil && Int.random(in: 0..<10, using: &random) < 8 }
        removed += known.values.filter { there[$0.path]?.identifier != $0.identifier }.map(\.path).filter { _ in
            Bool.random(using: &random)
        }
        changed += items.filter { $0.path.isInside(anyOf: Set(removed)) && !changed.contains($0) }
        // As they come from a dictionary.
        removed.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        let changes = BaseScope(changed: changed, removed: removed)
        let some = try await index.tree(.default, root: .root, for: changes)
        let (whole, scoped) = (try await units(changes, all), try await units(changes, some))
        let missing = whole.filter { !scoped.contains($0) && !$0.isForPushes }
        #expect(missing.map { "\($0.plan.steps) \($0)" } == [], "seed \(seed): planned with all bases only")
        let other = scoped.filter { !whole.contains($0) }
        #expect(other.map { "\($0.plan.steps) \($0)" } == [], "seed \(seed): planned with some bases only")
        return (scoped.count, all.count - some.count)
    }

    /// What is planned for the parts of a whole listing is what is planned for all of it with all bases.
    ///
    /// - Returns: how many units were compared, and of listings that were planned part by part, how many parts those had.
    fileprivate func expectPlansOfParts(
        _ provider: MemoryProvider, seed: Int
    ) async throws -> (units: Int, parts: Int) {
        try await index.settle()
        let (items, all) = (provider.items, try await index.tree(.default, root: .root) { $0 })
        let listing = Listing(items, isWhole: true)
        let findings = try await index.tree(.default, root: .root) { listing.compare($0) }
        let difference = ListingDifference(listing, findings)
        let parts = difference.isEntangled ? [difference.whole] : Array(difference.parts(of: 2))
        var found: Set<TreeUnit> = []
        for part in parts {
            let bases = try await index.tree(.default, root: .root, for: part)
            found.formUnion(try await units(part, bases).filter { !$0.isTowardsProvider })
        }
        let missing = Set(all.map(\.record.path)).subtracting(items.map(\.path))
        let whole = try await units(BaseScope(changed: items, removed: Array(missing)), all)
        let expected = Set(whole.filter { !$0.isTowardsProvider })
        #expect(
            expected.subtracting(found).map { "\($0.plan.steps) \($0)" } == [], "seed \(seed): in no part")
        #expect(
            found.subtracting(expected).map { "\($0.plan.steps) \($0)" } == [], "seed \(seed): in parts only")
        return (expected.count, parts.count > 1 ? parts.count : 0)
    }

    private func units(_ changes: BaseScope, _ bases: [TreeBase]) async throws -> [TreeUnit] {
        let diff = TreeDiff(bases: bases, remote: RemoteView(changes, bases: bases))
        var locals: [RelativePath: LocalEntry] = [:]
        for path in diff.wantedLocals {
            guard let item = try await index.item(drivePath: path), item.base == nil else { continue }
            locals[path] = item.entry
        }
        return diff.units(localAt: locals)
    }
}

extension TreeUnit {
    /// The provider has what it had, and a pull does nothing about the rest.
    fileprivate var isTowardsProvider: Bool {
        guard let base, let remote, remote == RemoteItem(base) else { return false }
        return plan.steps.allSatisfy(\.isTowardsProvider)
    }

    /// Nothing of it is a pull's: the provider has what it had. What is on its way to another place was put there by a pull that
    /// ended early, after which everything is looked at.
    fileprivate var isForPushes: Bool {
        guard let base, let remote, remote == RemoteItem(base) else { return false }
        return plan.steps.allSatisfy(\.isTowardsProvider) || local?.isInTransit == true || base.version.rawValue.isEmpty
    }
}
