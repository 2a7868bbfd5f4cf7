import QuireCore
import QuireSync
import Testing

/// Every combination of what each side can be, made from small sets of values.
private enum Cases {
    static let place = Place(.root, "doc")
    static let moved = Place(.base("dir"), "doc")
    static let elsewhere = Place(.root, "other")
    static let version = ProviderVersion("1")

    static func facts(_ kind: FileKind, content: UInt8 = 0, time: Int64 = 1, mode: UInt16 = 0o644, known: Bool = true)
        -> ItemFacts
    {
        ItemFacts(
            kind: kind, size: kind == .file ? 10 : 0,
            checksum: kind == .file && known ? ContentChecksum(bytes: Array(repeating: content, count: 32)) : nil,
            symlinkTarget: kind == .symlink ? [content + 1] : nil, mtime: FileTime(nanoseconds: time), mode: mode)
    }

    static let kinds: [FileKind] = [.file, .directory, .symlink]

    static var bases: [BaseState?] {
        [nil] + kinds.map { BaseState(place: place, version: version, facts: facts($0)) }
    }

    /// What differs: content 0 is the base's, 1 and 2 are others.
    static var locals: [LocalState?] {
        var all: [LocalState?] = [nil]
        for kind in kinds {
            for content in [UInt8(0), 1, 2] where kind != .directory || content == 0 {
                for (time, mode) in attributes {
                    for place in [place, moved, elsewhere] {
                        for known in kind == .file ? [true, false] : [true] {
                            let facts = facts(kind, content: content, time: time, mode: mode, known: known)
                            all.append(
                                LocalState(place: place, content: content == 0 ? .asBase : .changed, facts: facts))
                        }
                        if kind == .file, content == 0 {
                            let facts = facts(kind, time: time, mode: mode)
                            for stand in [.version(version), .version(ProviderVersion("0")), .elsewhere]
                                as [LocalState.Stand]
                            {
                                all.append(LocalState(place: place, content: .dataless(stand), facts: facts))
                            }
                        }
                    }
                }
            }
        }
        all.append(LocalState(place: place, content: .changed, facts: facts(.fifo), isLocalOnly: true))
        all.append(LocalState(place: elsewhere, content: .changed, facts: facts(.file), isLocalOnly: true))
        return all
    }

    static var remotes: [RemoteState?] {
        var all: [RemoteState?] = [nil]
        for kind in kinds {
            for content in [UInt8(0), 1] where kind != .directory || content == 0 {
                for (time, mode) in attributes {
                    for place in [place, moved] {
                        for known in kind == .file ? [true, false] : [true] {
                            // One version may be two contents: made of size and time, it is the same for both.
                            for version in content == 0 || kind == .file ? ["1", "2"] : ["2"] {
                                all.append(
                                    RemoteState(
                                        place: place, version: ProviderVersion(version),
                                        facts: facts(kind, content: content, time: time, mode: mode, known: known)))
                            }
                        }
                    }
                }
            }
        }
        return all
    }

    static let attributes: [(Int64, UInt16)] = [(1, 0o644), (2, 0o644), (1, 0o600)]

    /// All that can be: without a base, what is here is new, or a placeholder.
    static func forEach(_ body: (BaseState?, LocalState?, RemoteState?) -> Void) {
        for base in bases {
            for var local in locals {
                if base == nil, local?.content == .asBase { local?.content = .changed }
                if let base, let found = local, found.content == .asBase, found.facts.kind != base.facts.kind {
                    local?.content = .changed
                }
                for remote in remotes { body(base, local, remote) }
            }
        }
    }
}

@Suite struct SyncPlannerTests {
    private func differs(_ local: LocalState, from base: BaseState) -> Bool {
        if local.facts.kind != base.facts.kind { return true }
        return local.place != base.place || local.content == .changed
            || SyncPlanner.attributesDiffer(local.facts, base.facts)
    }

    private func isDataless(_ local: LocalState) -> Bool {
        if case .dataless = local.content { true } else { false }
    }

    @Test("A local side that differs from its base is never removed or overwritten")
    func localEditsSurvive() {
        Cases.forEach { base, local, remote in
            guard let local, !isDataless(local), !local.isLocalOnly else { return }
            let steps = SyncPlanner.plan(base: base, local: local, remote: remote).steps
            let changed = base.map { differs(local, from: $0) } ?? true
            if changed {
                #expect(
                    !steps.contains(.removeLocal), "\(String(describing: base)) \(local) \(String(describing: remote))")
            }
            if base == nil || local.content == .changed {
                #expect(!steps.contains(.updateLocal))
                let equal = remote.map { SyncPlanner.sameContent(local.facts, $0.facts) == true } ?? false
                if steps.contains(.createLocal) { #expect(steps.first == .moveAside) }
                if steps.contains(.adopt) || steps.contains(.applyAttributes) { #expect(equal) }
            }
        }
    }

    @Test("A remote side that differs from its base is never deleted or overwritten")
    func remoteEditsSurvive() {
        Cases.forEach { base, local, remote in
            guard let remote else { return }
            let steps = SyncPlanner.plan(base: base, local: local, remote: remote).steps
            let contentChanged =
                base.map { base in
                    base.facts.kind != remote.facts.kind
                        || base.version != remote.version && SyncPlanner.sameContent(base.facts, remote.facts) != true
                            && remote.facts.kind == .file
                        || SyncPlanner.sameContent(base.facts, remote.facts) == false && remote.facts.kind == .file
                        || base.version != remote.version && remote.facts.kind == .symlink
                            && base.facts.symlinkTarget != remote.facts.symlinkTarget
                } ?? true
            for step in steps {
                switch step {
                case .deleteRemote(let version):
                    #expect(!contentChanged)
                    #expect(remote.place == base?.place)
                    #expect(version == remote.version)
                case .upload(let version):
                    #expect(!contentChanged)
                    #expect(version == remote.version)
                case .createRemote: #expect(!contentChanged)
                case .forget: Issue.record("a base was dropped although the provider has the item")
                default: break
                }
            }
        }
    }

    @Test("Two contents of one version are two, where checksums tell so")
    func oneVersion() {
        let base = BaseState(place: Cases.place, version: Cases.version, facts: Cases.facts(.file))
        let remote = RemoteState(place: Cases.place, version: Cases.version, facts: Cases.facts(.file, content: 1))
        let untouched = LocalState(place: Cases.place, content: .asBase, facts: base.facts)
        let edited = LocalState(place: Cases.place, content: .changed, facts: Cases.facts(.file, content: 2))
        let equal = LocalState(place: Cases.place, content: .changed, facts: remote.facts)
        let placeholder = LocalState(place: Cases.place, content: .dataless(.version(Cases.version)), facts: base.facts)
        let plans: [(LocalState?, ItemPlan)] = [
            (nil, [.createLocal]), (untouched, [.updateLocal]), (edited, [.moveAside, .createLocal]),
            (equal, [.adopt]), (placeholder, [.updateLocal]),
        ]
        for (local, plan) in plans {
            #expect(SyncPlanner.plan(base: base, local: local, remote: remote) == plan, "\(String(describing: local))")
        }
        // Where one of the checksums is not known, the version counts.
        var unknown = remote
        unknown.facts.checksum = nil
        #expect(
            SyncPlanner.plan(base: base, local: nil, remote: unknown) == [.deleteRemote(expecting: Cases.version)])
        #expect(SyncPlanner.plan(base: base, local: untouched, remote: unknown) == [])
    }

    @Test("Edit beats delete, on either side")
    func editBeatsDelete() {
        Cases.forEach { base, local, remote in
            guard let base else { return }
            if let local, remote == nil, !isDataless(local), !local.isLocalOnly, differs(local, from: base) {
                #expect(SyncPlanner.plan(base: base, local: local, remote: nil) == [.forget, .createRemote])
            }
            if local == nil, let remote, remote.place != base.place || remote.facts.mtime != base.facts.mtime,
                remote.facts.kind != .directory
            {
                #expect(SyncPlanner.plan(base: base, local: nil, remote: remote) == [.createLocal])
            }
        }
    }

    @Test("In a conflict the provider's version keeps the name and the local one is moved aside")
    func conflicts() {
        Cases.forEach { base, local, remote in
            guard let base, let local, let remote, local.content == .changed, !local.isLocalOnly else { return }
            guard base.facts.kind == local.facts.kind, base.facts.kind == remote.facts.kind,
                remote.version != base.version,
                SyncPlanner.sameContent(base.facts, remote.facts) == false,
                SyncPlanner.sameContent(local.facts, remote.facts) == false
            else { return }
            #expect(SyncPlanner.plan(base: base, local: local, remote: remote) == [.moveAside, .createLocal])
        }
    }

    @Test("Equal content on both sides is adopted without a transfer")
    func equalSides() {
        Cases.forEach { base, local, remote in
            guard let local, let remote, !isDataless(local), !local.isLocalOnly else { return }
            guard SyncPlanner.sameContent(local.facts, remote.facts) == true else { return }
            if let base, base.facts.kind != local.facts.kind, base.facts.kind != remote.facts.kind { return }
            if let base,
                local.content == .asBase || base.version == remote.version || base.facts.kind != local.facts.kind
            {
                return
            }
            let steps = SyncPlanner.plan(base: base, local: local, remote: remote).steps
            #expect(!steps.contains { if case .upload = $0 { remote.facts.checksum == nil } else { false } })
            #expect(!steps.contains(.moveAside) && !steps.contains(.createLocal) && !steps.contains(.updateLocal))
        }
    }

    @Test("An item moved differently on both sides ends where the provider has it")
    func movedOnBothSides() {
        let base = BaseState(place: Cases.place, version: Cases.version, facts: Cases.facts(.file))
        let local = LocalState(place: Cases.elsewhere, content: .asBase, facts: base.facts)
        let remote = RemoteState(place: Cases.moved, version: Cases.version, facts: base.facts)
        #expect(SyncPlanner.plan(base: base, local: local, remote: remote) == [.moveLocal])
        var same = local
        same.place = remote.place
        #expect(SyncPlanner.plan(base: base, local: same, remote: remote) == [.followMove])
    }

    @Test("A directory that is known only by what is below it was not deleted here")
    func unknownDirectory() {
        let facts = Cases.facts(.directory)
        let base = BaseState(place: Cases.place, version: ProviderVersion(""), facts: facts)
        let remote = RemoteState(place: Cases.place, version: Cases.version, facts: facts)
        #expect(SyncPlanner.plan(base: base, local: nil, remote: remote) == [.createLocal])
        #expect(SyncPlanner.plan(base: base, local: nil, remote: nil) == [.forget])
        let known = BaseState(place: Cases.place, version: Cases.version, facts: facts)
        #expect(
            SyncPlanner.plan(base: known, local: nil, remote: remote) == [.deleteRemote(expecting: Cases.version)])
    }

    @Test("A placeholder is never uploaded, and one whose content is nowhere is kept")
    func placeholders() {
        Cases.forEach { base, local, remote in
            guard let local, isDataless(local) else { return }
            let steps = SyncPlanner.plan(base: base, local: local, remote: remote).steps
            let isElsewhere = base == nil && local.content == .dataless(.elsewhere)
            #expect(!steps.contains(.createRemote) && steps.contains(.moveAside) == (isElsewhere && remote != nil))
            for step in steps { if case .upload = step { Issue.record("a placeholder would be uploaded") } }
            if base == nil, remote == nil { #expect(steps == [.hold]) }
        }
    }

    @Test("What is local only is never sent, and only what is in its way is moved")
    func localOnly() {
        Cases.forEach { base, local, remote in
            guard let local, local.isLocalOnly else { return }
            let steps = SyncPlanner.plan(base: base, local: local, remote: remote).steps
            #expect(steps.allSatisfy { if case .deleteRemote = $0 { true } else { !$0.isTowardsProvider } })
            if steps.contains(.moveAside) { #expect(local.place == remote?.place) }
        }
    }

    @Test("A placeholder that only its name keeps here stands for what the provider has in its place")
    func localPlaceholder() {
        let facts = Cases.facts(.file)
        let local = LocalState(
            place: Cases.place, content: .dataless(.version(Cases.version)), facts: facts, isLocalOnly: true)
        let same = RemoteState(place: Cases.place, version: Cases.version, facts: facts)
        #expect(SyncPlanner.plan(base: nil, local: local, remote: same) == [.adopt])
        let newer = RemoteState(place: Cases.place, version: ProviderVersion("newer"), facts: facts)
        #expect(SyncPlanner.plan(base: nil, local: local, remote: newer) == [.updateLocal])
        #expect(SyncPlanner.plan(base: nil, local: local, remote: nil) == [])
    }

    @Test("Following a plan leads to a state that needs no other, in at most six rounds")
    func plansConverge() {
        Cases.forEach { base, local, remote in
            var state = (base: base, local: local, remote: remote)
            for _ in 0..<7 {
                let steps = SyncPlanner.plan(base: state.base, local: state.local, remote: state.remote).steps
                if steps.isEmpty || steps == [.hold] { return }
                for step in steps { apply(step, &state) }
            }
            Issue.record(
                "no end: \(String(describing: base)) \(String(describing: local)) \(String(describing: remote))")
        }
    }

    private typealias State = (base: BaseState?, local: LocalState?, remote: RemoteState?)

    /// What each step does, on states.
    private func apply(_ step: SyncStep, _ state: inout State) {
        switch step {
        case .createRemote, .upload:
            guard let local = state.local else { return }
            var facts = local.facts
            if facts.kind == .file, facts.checksum == nil {
                facts.checksum = ContentChecksum(bytes: Array(repeating: 1, count: 32))
            }
            state.remote = RemoteState(
                place: state.remote?.place ?? local.place, version: ProviderVersion("9"), facts: facts)
            adopt(&state)
        case .pushAttributes:
            guard let local = state.local else { return }
            state.remote?.facts.mtime = local.facts.mtime
            state.remote?.facts.mode = local.facts.mode
            state.base = state.remote.map {
                BaseState(place: state.base?.place ?? $0.place, version: $0.version, facts: $0.facts)
            }
        case .moveRemote:
            guard let place = state.local?.place else { return }
            state.remote?.place = place
            state.base?.place = place
        case .deleteRemote: state.remote = nil; state.base = nil
        case .createLocal, .updateLocal:
            guard let remote = state.remote else { return }
            var facts = remote.facts
            facts.mode = SyncPlanner.mergedMode(
                base: state.base?.facts, local: state.local?.facts, remote: remote.facts)
            let place = step == .updateLocal ? state.local?.place ?? remote.place : remote.place
            state.local = LocalState(place: place, content: .asBase, facts: facts)
            state.base = BaseState(place: remote.place, version: remote.version, facts: remote.facts)
        case .applyAttributes:
            guard let remote = state.remote else { return }
            let mode = SyncPlanner.mergedMode(base: state.base?.facts, local: state.local?.facts, remote: remote.facts)
            state.local?.facts.mode = mode
            state.local?.facts.mtime = remote.facts.mtime
            if case .changed = state.local?.content { state.local?.content = .asBase }
            state.base = BaseState(place: remote.place, version: remote.version, facts: remote.facts)
        case .moveLocal, .followMove:
            guard let remote = state.remote else { return }
            state.local?.place = remote.place
            state.base?.place = remote.place
        case .removeLocal, .moveAside: state.local = nil
        case .adopt: adopt(&state)
        case .forget: state.base = nil; if state.local?.content == .asBase { state.local?.content = .changed }
        case .compare:
            let known = ContentChecksum(bytes: Array(repeating: 1, count: 32))
            if state.local?.facts.checksum == nil { state.local?.facts.checksum = known }
            if state.remote?.facts.checksum == nil { state.remote?.facts.checksum = known }
        case .hold: break
        }
    }

    private func adopt(_ state: inout State) {
        state.base = state.remote.map { BaseState(place: $0.place, version: $0.version, facts: $0.facts) }
        if state.local?.content == .changed { state.local?.content = .asBase }
    }
}
