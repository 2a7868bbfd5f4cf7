import QuireCore

/// Decides what to do about one item, from what was acknowledged, what is here, and what the provider has.
///
/// Pure: no clock, no I/O, no state. Nothing that differs from the base is ever discarded; a mistake can only keep too much.
///
/// Without a base:
/// ```
///               remote: absent        present
/// local absent          -             createLocal
///       present         createRemote  equal -> adopt (remote attributes win); unknown -> compare; else moveAside, createLocal
///       dataless        hold          same version -> adopt; of another container -> moveAside, createLocal; else updateLocal
///       local-only      -             moveAside, createLocal; dataless: as such
/// ```
/// With a base ("changed": content, attributes or place differ from the base's):
/// ```
///               remote: absent                  unchanged      changed                        other kind
/// local absent          forget                  deleteRemote   createLocal; compare where        createLocal
///                                                              nothing but the version is
///       unchanged       removeLocal             -              follow it (below)              removeLocal, createLocal
///       changed         forget, createRemote    push (below)   merge (below)                  moveAside, createLocal
///       dataless        removeLocal             as unchanged, or its move and attributes      removeLocal, createLocal
///       other kind      forget, createRemote    deleteRemote,  moveAside, createLocal         same kind: as without base
///                                               createRemote                                  else moveAside, createLocal
///       local-only      as local absent; createLocal is preceded by moveAside when it lies in the same place; dataless there: as
///                       such
/// ```
/// Both there, one kind; place, content and attributes are decided one by one:
/// ```
///               changed here      changed there     changed in both
/// place         moveRemote        moveLocal         same place, or there in transit: followMove; else moveLocal (remote wins)
/// content       upload            updateLocal       equal: as attributes; unknown: compare; else moveAside, createLocal
/// (what the provider made of this device's own version is nobody's change: upload)
/// attributes    pushAttributes    applyAttributes   equal: adopt; else applyAttributes, field by field, remote wins (tags: merged)
/// neither, but another version: adopt
/// ```
/// A directory that was removed and made anew here counts as changed until the provider confirmed it, and one that was made
/// anew there is no longer the base's: its deletion here says nothing of it; nor does a base of unknown version, made for what
/// lies below it, say that anything was here. What a pull has moved out of the way
/// (`TransitName`) has not moved. Where two moves would put two directories into each other, `TreeDiff` takes back this device's.
package enum SyncPlanner {
    /// The plan for one item. Nil means: is not there.
    package static func plan(base: BaseState?, local: LocalState?, remote: RemoteState?) -> ItemPlan {
        if let local, local.isLocalOnly { return planAroundLocalOnly(base, local, remote) }
        guard let base else { return planNew(local, remote) }
        switch (local, remote) {
        case (nil, nil): return [.forget]
        case (nil, let remote?): return planDeletedHere(base, remote)
        case (let local?, nil):
            if case .dataless = local.content { return [.removeLocal] }
            return differs(local, from: base) ? [.forget, .createRemote] : [.removeLocal]
        case (let local?, let remote?):
            if base.facts.kind == local.facts.kind, base.facts.kind == remote.facts.kind {
                return merge(base, local, remote)
            }
            return planKindChange(base, local, remote)
        }
    }

    /// The mode that an item ends with, when the provider's attributes are applied: a mode that only this device changed stays.
    package static func mergedMode(base: ItemFacts?, local: ItemFacts?, remote: ItemFacts) -> UInt16? {
        guard let base, let local, let remoteMode = remote.mode, remoteMode == base.mode else { return remote.mode }
        return local.mode ?? remoteMode
    }

    /// Whether two sides hold the same content; nil when checksums (or link targets) are needed and one is missing.
    package static func sameContent(_ one: ItemFacts, _ other: ItemFacts) -> Bool? {
        guard one.kind == other.kind else { return false }
        switch one.kind {
        case .symlink:
            guard let left = one.symlinkTarget, let right = other.symlinkTarget else { return nil }
            return left == right
        case .file:
            guard one.size == other.size else { return false }
            if one.size == 0 { return true }
            guard let left = one.checksum, let right = other.checksum else { return nil }
            return left == right
        case .directory, .fifo, .socket, .characterDevice, .blockDevice: return true
        }
    }

    /// Whether mtime, mode or tags differ in a way that counts: a directory's mtime follows its entries and is nobody's edit, a
    /// symlink has no mode of its own, and a provider without modes changes none.
    package static func attributesDiffer(_ one: ItemFacts, _ other: ItemFacts) -> Bool {
        let modesDiffer = one.kind != .symlink && one.mode != nil && other.mode != nil && one.mode != other.mode
        let tagsDiffer = one.tags != nil && other.tags != nil && one.tags != other.tags
        return modesDiffer || tagsDiffer || (one.kind != .directory && one.mtime != other.mtime)
    }
}

extension SyncPlanner {
    private static func planAroundLocalOnly(_ base: BaseState?, _ local: LocalState, _ remote: RemoteState?) -> ItemPlan
    {
        // A placeholder in the provider's place stands for what is there.
        if case .dataless = local.content, local.place == remote?.place {
            var document = local
            document.isLocalOnly = false
            return plan(base: base, local: document, remote: remote)
        }
        let plan = plan(base: base, local: nil, remote: remote)
        guard plan.steps == [.createLocal] || plan.steps == [.compare] else { return plan }
        return local.place == remote?.place ? [.moveAside, .createLocal] : [.createLocal]
    }

    private static func planDeletedHere(_ base: BaseState, _ remote: RemoteState) -> ItemPlan {
        guard differs(remote, from: base) || isAnotherDirectory(remote, base) || !base.isKnown else {
            return [.deleteRemote(expecting: remote.version)]
        }
        // All documents of a folder that was copied to another disk have other versions: nobody has edited them.
        let isVersionAlone =
            base.isKnown && remote.place == base.place && !attributesDiffer(remote.facts, base.facts)
            && sameContent(base.facts, remote.facts) == nil
        let canBeCompared = remote.facts.kind == .file && base.facts.checksum != nil && remote.facts.checksum == nil
        return isVersionAlone && canBeCompared ? [.compare] : [.createLocal]
    }

    private static func planNew(_ local: LocalState?, _ remote: RemoteState?) -> ItemPlan {
        switch (local, remote) {
        case (nil, nil): []
        case (let local?, nil):
            if case .dataless = local.content { [.hold] } else { [.createRemote] }
        case (nil, _?): [.createLocal]
        case (let local?, let remote?): planSamePlace(local, remote)
        }
    }

    /// Two items that met in one place with nothing known to have been common.
    private static func planSamePlace(_ local: LocalState, _ remote: RemoteState) -> ItemPlan {
        if case .dataless(let stand) = local.content {
            if stand == .elsewhere { return [.moveAside, .createLocal] }
            guard remote.facts.kind == .file else { return [.removeLocal, .createLocal] }
            let isSame = stand == .version(remote.version) && local.facts.size == remote.facts.size
            return isSame ? [.adopt] : [.updateLocal]
        }
        switch sameContent(local.facts, remote.facts) {
        case nil: return [.compare]
        case true?: return attributesDiffer(local.facts, remote.facts) ? [.applyAttributes] : [.adopt]
        case false?: return [.moveAside, .createLocal]
        }
    }

    private static func planKindChange(_ base: BaseState, _ local: LocalState, _ remote: RemoteState) -> ItemPlan {
        let isDataless = if case .dataless = local.content { true } else { false }
        if local.facts.kind == remote.facts.kind, !isDataless { return planSamePlace(local, remote) }
        if local.facts.kind == base.facts.kind {
            return differs(local, from: base) && !isDataless
                ? [.moveAside, .createLocal] : [.removeLocal, .createLocal]
        }
        if remote.facts.kind == base.facts.kind, !differs(remote, from: base), !isDataless {
            return [.deleteRemote(expecting: remote.version), .createRemote]
        }
        return isDataless ? [.removeLocal, .createLocal] : [.moveAside, .createLocal]
    }

    private static func merge(_ base: BaseState, _ local: LocalState, _ remote: RemoteState) -> ItemPlan {
        let content = mergeContent(base, local, remote)
        if content.contains(.moveAside) { return ItemPlan(content) }
        let place = mergePlace(base, local, remote)
        if content.contains(.compare) { return ItemPlan(place.isEmpty || place == [.moveRemote] ? content : place) }
        return ItemPlan(place + content)
    }

    private static func mergePlace(_ base: BaseState, _ local: LocalState, _ remote: RemoteState) -> [SyncStep] {
        if local.place == remote.place { return remote.place == base.place ? [] : [.followMove] }
        // A push that was to move it on has ended in the middle, perhaps this device's.
        if remote.isInTransit, remote.place != base.place, local.place != base.place, !local.isInTransit {
            return [.followMove]
        }
        return remote.place == base.place && !local.isInTransit ? [.moveRemote] : [.moveLocal]
    }

    private static func mergeContent(_ base: BaseState, _ local: LocalState, _ remote: RemoteState) -> [SyncStep] {
        switch (local.content == .changed, contentChanged(base, remote)) {
        case (true, true) where isRemade(base, remote) && local.facts.size != remote.facts.size:
            return [.upload(expecting: remote.version)]
        case (true, true):
            // The provider's version is another, its content perhaps not: that would be no conflict.
            if remote.facts.checksum == nil, sameContent(base.facts, remote.facts) == nil, base.facts.checksum != nil {
                return [.compare]
            }
            switch sameContent(local.facts, remote.facts) {
            case nil: return [.compare]
            case true?: return attributesDiffer(local.facts, remote.facts) ? [.applyAttributes] : [.adopt]
            case false?: return [.moveAside, .createLocal]
            }
        case (true, false): return [.upload(expecting: remote.version)]
        case (false, true): return [.updateLocal]
        case (false, false): return mergeAttributes(base, local, remote)
        }
    }

    private static func mergeAttributes(_ base: BaseState, _ local: LocalState, _ remote: RemoteState) -> [SyncStep] {
        let here = attributesDiffer(local.facts, base.facts)
        // Of tags that the provider tells for the first time it is not known who changed them.
        let tellsTags = base.facts.tags == nil && remote.facts.tags != nil
        let there = attributesDiffer(remote.facts, base.facts) || tellsTags
        if there, attributesDiffer(local.facts, remote.facts) { return [.applyAttributes] }
        if here, !there { return [.pushAttributes(expecting: remote.version)] }
        return there || remote.version != base.version ? [.adopt] : []
    }

    /// Whether the provider's content may be another than the base's. Of one version it may be, too: where versions are
    /// made of size and time, two contents can have the same. There it is what sizes, checksums or targets tell.
    private static func contentChanged(_ base: BaseState, _ remote: RemoteState) -> Bool {
        guard remote.facts.kind != .directory else { return false }
        let isSame = sameContent(base.facts, remote.facts)
        return base.version == remote.version ? isSame == false : isSame != true
    }

    /// Whether the provider has made other content of what it was sent from here, under the version that this was acknowledged
    /// with. Versions that are made of sizes tell sizes apart.
    private static func isRemade(_ base: BaseState, _ remote: RemoteState) -> Bool {
        base.version == remote.version && base.facts.kind == .file && base.facts.size != remote.facts.size
    }

    /// Whether a directory of the same name was made in the place of the base's, as far as versions tell.
    private static func isAnotherDirectory(_ remote: RemoteState, _ base: BaseState) -> Bool {
        remote.facts.kind == .directory && base.isKnown && base.version != remote.version
    }

    private static func differs(_ remote: RemoteState, from base: BaseState) -> Bool {
        remote.facts.kind != base.facts.kind || remote.place != base.place || contentChanged(base, remote)
            || attributesDiffer(remote.facts, base.facts)
    }

    private static func differs(_ local: LocalState, from base: BaseState) -> Bool {
        local.facts.kind != base.facts.kind || local.place != base.place && !local.isInTransit
            || local.content == .changed || attributesDiffer(local.facts, base.facts)
    }
}
