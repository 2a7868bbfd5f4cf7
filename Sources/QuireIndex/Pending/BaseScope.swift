package import QuireCore

/// What a provider says of changes: enough to tell which bases a plan for them depends on.
///
/// Those are:
/// 1. the bases at the paths of what changed or was removed, and all below what was removed or is another than it was;
/// 2. of directories among the latter: whatever lies below them *here*, as that may keep them;
/// 3. the directories of all these at the provider: a place there, or one that is the same here, is said by its directory's base.
///
/// Of any other base the provider has what it had, in the same place. So a plan for these alone is the plan for all, but for
/// what only this device changed, which is a push's (`ScopedPlansTests`).
package struct BaseScope: Sendable {
    package var changed: [RemoteItem]
    package var removed: [RelativePath]

    package init(changed: [RemoteItem], removed: [RelativePath]) {
        self.changed = changed
        self.removed = removed
    }
}
