import QuireCore
import QuireIndex
import QuireStore

/// A look at one document at the provider: who waits for it does not wait until everything is listed.
struct ItemLook: Sendable {
    /// What the look led to.
    enum Outcome: Sendable, Hashable {
        /// What is here stands for another version now, the one that the provider has.
        case renewed
        /// What is here stood for that already.
        case current
        /// More than its content differs, or it is in use: a pull has to tell what is to be done.
        case unclear
    }

    let context: SyncContext

    /// Has a placeholder stand for the version that the provider has now.
    ///
    /// One request, and then what a pull would do, on the same conditions: planned from all three sides, committed only on
    /// what the plan was made from. A pull that runs meanwhile, with an older listing, leaves the document alone.
    func renew(_ item: IndexedItem) async throws(SyncFailure) -> Outcome {
        guard let base = item.base, base.kind == .file, case .dataless = item.entry.content,
            let path = item.drivePath.removing(ancestor: context.container.root), let parent = item.drivePath.parent
        else { return .unclear }
        context.touched.insert(base.path)
        let remote = try await context.ask { () throws(ProviderError) in
            try await context.provider.item(at: base.path)
        }
        // Another identifier: the document may be elsewhere, and this one a new one in its place.
        guard let remote, remote.kind == .file, remote.identifier == base.identifier else { return .unclear }
        if remote.version == base.version { return .current }
        do {
            guard try await context.index.isRescanned(drivePath: parent) else { return .unclear }
        } catch {
            throw SyncFailure(.later, "\(error)")
        }
        var local = item.entry
        local.path = path
        var unit = TreeUnit(base: base, local: local, remote: remote, target: path, plan: [])
        unit.plan = UnitApplier.replan(unit)
        guard unit.plan == [.updateLocal] else { return .unclear }
        guard case .done = await UnitApplier(context: context, made: MadeDirectories()).apply(unit) else {
            return .unclear
        }
        return .renewed
    }
}
