package import QuireCore

/// Finds which base, which remote item and which local item are one document.
///
/// Bases and remote items are matched in this order, always within one kind:
/// 1. same path, and the same identifier or none;
/// 2. same identifier, on either side used once only: a move at the provider;
/// 3. same path: somebody saved by replacing the file.
///
/// What remains of the bases was deleted at the provider, what remains of the remote items is new there. A new one meets the
/// local item without a base in the same place; the caller looks those up (`wantedLocals`), as an index answers later.
package struct TreeMatching: Sendable {
    package let bases: [RelativePath: TreeBase]
    package let remote: [RelativePath: RemoteItem]
    /// Base path → remote path.
    package private(set) var remoteOfBase: [RelativePath: RelativePath] = [:]
    /// Remote path → base path.
    package private(set) var baseOfRemote: [RelativePath: RelativePath] = [:]

    package init(bases: [TreeBase], remote: RemoteView) {
        self.bases = Dictionary(bases.map { ($0.record.path, $0) }, uniquingKeysWith: { _, last in last })
        self.remote = remote.items
        matchSamePath { base, item in base.mayBe(item) }
        matchIdentifiers()
        matchSamePath { _, _ in true }
    }

    private mutating func matchSamePath(_ accepts: (BaseRecord, RemoteItem) -> Bool) {
        for (path, base) in bases where remoteOfBase[path] == nil && baseOfRemote[path] == nil {
            guard let item = remote[path], item.kind == base.record.kind, accepts(base.record, item) else { continue }
            link(path, path)
        }
    }

    private mutating func matchIdentifiers() {
        var candidates: [String: RelativePath?] = [:]
        for (path, item) in remote where baseOfRemote[path] == nil {
            guard let identifier = item.identifier else { continue }
            candidates.updateValue(candidates.keys.contains(identifier) ? nil : path, forKey: identifier)
        }
        var used: [String: Int] = [:]
        for (path, base) in bases where remoteOfBase[path] == nil {
            if let identifier = base.record.identifier { used[identifier, default: 0] += 1 }
        }
        for (path, base) in bases where remoteOfBase[path] == nil {
            guard let identifier = base.record.identifier, used[identifier] == 1,
                let found = candidates[identifier], let there = found, remote[there]?.kind == base.record.kind
            else { continue }
            link(path, there)
        }
    }

    private mutating func link(_ base: RelativePath, _ item: RelativePath) {
        remoteOfBase[base] = item
        baseOfRemote[item] = base
    }

    /// How many bases have nothing at the provider any more.
    package var missingAtProvider: Int { bases.count - remoteOfBase.count }

    /// Those bases.
    package var missing: [BaseRecord] { bases.values.lazy.filter { remoteOfBase[$0.record.path] == nil }.map(\.record) }
}
