import QuireCore
import QuireStore

/// Documents without their content, links and empty documents: what is made of what the provider has.
extension UnitApplier {
    /// Whether nothing but this is to be done about the unit, and nothing is in its place.
    static func isInstallation(_ unit: TreeUnit) -> Bool {
        unit.plan == [.createLocal] && unit.remote.map { $0.kind != .directory } ?? false
    }

    /// Applies units of which `isInstallation` holds, many at one go, where no applications coordinate.
    ///
    /// - Returns: what became of each, in order.
    func installTogether(_ units: [TreeUnit]) async -> [UnitOutcome] {
        let sites = units.map { made.find($0.directory) }
        let ready = zip(units, sites).compactMap { unit, directory -> Installation? in
            guard let directory, let remote = unit.remote, let target = unit.target else { return nil }
            return installation(of: remote, at: target, in: directory)
        }
        var results = await context.installTogether(ready)[...]
        var outcomes: [UnitOutcome] = []
        for (unit, directory) in zip(units, sites) {
            var result = Result<UnitOutcome, SyncFailure>.success(.later)
            if let directory, let target = unit.target, let installed = results.popFirst() {
                do throws(SyncFailure) {
                    result = .success(try await outcome(try installed.get(), at: target, in: directory))
                } catch {
                    result = .failure(error)
                }
            }
            outcomes.append(await concluded(unit, result))
        }
        return outcomes
    }

    /// What is new here, of a kind other than a directory.
    func installation(
        of remote: RemoteItem, at path: RelativePath, in directory: WantedDirectory
    ) -> Installation {
        installation(remote, Self.mode(remote), at: path, in: directory, .absent)
    }

    /// The remote item as what it is, or as a placeholder.
    func installation(
        _ remote: RemoteItem, _ mode: UInt16, at path: RelativePath, in directory: WantedDirectory,
        _ expecting: LocalChange.Expectation
    ) -> Installation {
        let content: Installation.Content
        if remote.kind == .symlink {
            content = .link(target: remote.symlinkTarget ?? [], mtime: remote.mtime)
        } else if remote.size == .zero {
            content = .empty(mtime: remote.mtime, mode: mode)
        } else {
            let mark = Placeholder(version: remote.version, container: context.container.id, checksum: remote.checksum)
            content = .placeholder(mark, size: remote.size, mtime: remote.mtime, mode: mode)
        }
        return Installation(
            path: context.drivePath(path), content: content, expecting: expecting, base: record(remote),
            within: directory.inode)
    }

    /// The mode of what is new here.
    static func mode(_ remote: RemoteItem) -> UInt16 { remote.mode ?? defaultMode(remote.kind) }
}
