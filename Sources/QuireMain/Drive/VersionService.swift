import Glibc
import QuireCore
import QuireStore
import QuireSync

/// Kept versions of documents, and conflicts brought to an end.
struct VersionService: Sendable {
    let view: DriveView
    let versions: KeptVersions
    let staging: Staging

    /// The kept versions of a document, newest first; also those of its conflict copies that were resolved.
    func list(_ path: RelativePath) async throws -> [VersionMethods.Version] {
        try await kept(path).map(Self.described)
    }

    private static func described(_ version: KeptVersions.Version) -> VersionMethods.Version {
        VersionMethods.Version(
            name: version.shownName, date: WireTime(version.status.mtime), size: version.status.size,
            file: version.path,
            copy: version.origin.flatMap { $0.documentOfConflict == nil ? nil : WirePath($0) },
            discardable: version.isDiscardable ? true : nil)
    }

    /// Keeps a file of the staging directory as a version of a document.
    ///
    /// - Parameter file: below the staging directory.
    /// - Throws: `.usage` for a document that is no file; `.notFound` where there is none.
    func add(_ file: RelativePath, to path: RelativePath) async throws -> VersionMethods.Version {
        let entry = try await view.entry(at: path)
        guard entry.kind == .file else {
            throw QuireError(.usage, "\(path) is no file", remedy: "Versions are kept of files")
        }
        let (versions, staged) = (versions, "\(staging.path)/\(String(decoding: file.bytes, as: UTF8.self))")
        let version = try await Blocking.run { () throws in
            try versions.keep(staged: staged, of: entry.id, origin: path)
        }
        try await makeRoom()
        return Self.described(version)
    }

    /// The versions that only the provider keeps, newest first.
    ///
    /// - Throws: `.temporary` where it cannot be reached.
    func listNonlocal(_ path: RelativePath, sync: SyncService) async throws -> [VersionMethods.Version] {
        let found = try await sync.earlierVersions(of: path)
        let here = found.isEmpty ? [] : Set(try await kept(path).compactMap(\.provided))
        return found.filter { !here.contains($0.version) }.map {
            VersionMethods.Version(name: $0.version.rawValue, date: WireTime($0.mtime), size: $0.size.bytes)
        }
    }

    /// Brings a version that only the provider keeps.
    ///
    /// - Returns: the version; one that is here already, as it is.
    /// - Throws: `.notFound` where there is no such version; `.temporary` where the provider cannot be reached.
    func download(
        _ path: RelativePath, version name: String, sync: SyncService
    ) async throws -> (version: VersionMethods.Version, isNew: Bool) {
        if let here = try await kept(path).first(where: { $0.shownName == name }) {
            return (Self.described(here), false)
        }
        let entry = try await view.entry(at: path)
        guard let fetched = try await sync.fetchEarlier(name, of: path) else {
            throw QuireError(.notFound, "\(path) has no version \(name)", remedy: "See `quire versions \(path)`")
        }
        let (versions, staging) = (versions, staging)
        let version = try await Blocking.run { () throws in
            do {
                return try versions.keep(
                    staged: fetched, of: entry.id, origin: path, provided: ProviderVersion(name))
            } catch {
                staging.discard(fetched)
                throw error
            }
        }
        try await makeRoom()
        return (Self.described(version), true)
    }

    /// Lets a kept version go when room is short.
    ///
    /// - Throws: `.notFound` where the document has no such kept version.
    func discard(_ path: RelativePath, version name: String) async throws {
        guard let version = try await kept(path).first(where: { $0.shownName == name }) else {
            throw QuireError(.notFound, "\(path) has no kept version \(name)", remedy: "See `quire versions \(path)`")
        }
        let versions = versions
        try await Blocking.run { () throws in try versions.markDiscardable(version) }
        try await makeRoom()
    }

    /// Removes versions that may go, while less than a twentieth of the file system is free.
    func makeRoom() async throws {
        let versions = versions
        _ = try await Blocking.run { () throws in
            try versions.makeRoom {
                var space = statvfs()
                return statvfs(versions.path, &space) == 0 && space.f_bavail < space.f_blocks / 20
            }
        }
    }

    /// Makes a kept version, or one that the provider keeps, the document's content; what was there is kept as a version
    /// first.
    func restore(
        _ path: RelativePath, version name: String, sync: SyncService, committer: any LocalTreeCommitter
    ) async throws {
        let version = try await kept(path).first { $0.shownName == name }
        let fetched = version == nil ? try await sync.fetchEarlier(name, of: path) : nil
        defer { if let fetched { staging.discard(fetched) } }
        guard let content = version?.path ?? fetched else {
            throw QuireError(.notFound, "\(path) has no version \(name)", remedy: "See `quire versions \(path)`")
        }
        let staged = try await stage(content, mode: try await view.entry(at: path).mode)
        defer { staging.discard(staged) }
        try await patiently {
            // Of a placeholder nothing could be kept.
            do throws(QuireError) { try await sync.download(path) } catch {
                throw version.map { Self.unreplaceable(error, $0) } ?? error
            }
            try await install(staged, at: path, committer)
        }
    }

    /// What is there cannot be brought here, so the version does not go in its place: where to take its content from.
    private static func unreplaceable(_ error: QuireError, _ version: KeptVersions.Version) -> QuireError {
        let way = "The version itself is here; copy it beside the document: cp \(ShellWord.quoted(version.path)) …"
        return QuireError(error.code, error.message, remedy: error.remedy.map { "\($0) \(way)" } ?? way)
    }

    /// - Parameter content: absolute path.
    private func stage(_ content: String, mode: UInt16) async throws -> String {
        let staging = staging
        return try await Blocking.run { () throws(StoreError) in
            let staged = try staging.createFile("restored")
            let source = try OwnedDescriptor.open(content, O_RDONLY | O_NOFOLLOW)
            _ = try ContentCopy.copy(from: source, to: staged.descriptor, shown: content)
            try staging.finish(staged.path, mtime: WallClock.now(), mode: mode)
            return staged.keep()
        }
    }

    /// Puts a file of the staging directory in a document's place.
    ///
    /// - Parameter now: the wall clock, as file times have it.
    /// - Throws: `.busy` where the document is in use or changes meanwhile.
    func install(
        _ staged: String, at path: RelativePath, _ committer: any LocalTreeCommitter,
        now: @escaping @Sendable () -> FileTime = WallClock.now
    ) async throws {
        let entry = try await view.entry(at: path)
        let (tree, versions) = (view.tree, versions)
        let result = try await Blocking.run { () throws(StoreError) in
            try versions.displace(
                path, by: .install(stagedPath: staged, dataless: false), item: entry.id, in: tree, committer, now: now)
        }
        guard case .done = result else {
            throw QuireError(.busy, "\(path) is in use or has just changed", remedy: "Close it and try again")
        }
    }

    /// Ends the conflict of a document.
    func resolve(
        _ path: RelativePath, keep: [String], sync: SyncService, committer: any LocalTreeCommitter
    ) async throws -> VersionMethods.Resolve.Result {
        let conflicts = try await view.conflicts()
        let document = conflicts.document(of: path)
        let choice = try ConflictResolution.choose(document, copies: conflicts.copies(of: document), keep: keep)
        if choice.becomesDocument == nil, try await !isThere(document) {
            throw QuireError(
                .usage, "there is no \(document) any more that could be kept",
                remedy: "Name the copy to keep, as `quire conflicts` shows it")
        }
        if let winner = choice.becomesDocument {
            try await patiently { try await sync.resolveConflict(winner, keep: .copy) }
        }
        for copy in choice.removed {
            try await patiently { try await sync.resolveConflict(copy, keep: .original) }
        }
        for (copy, name) in choice.renamed { try await rename(copy, to: name, committer) }
        let removed = choice.removed + (choice.becomesDocument.map { [$0] } ?? [])
        return .init(
            removed: removed.map(WirePath.init), kept: ([document] + choice.renamed.map(\.1)).map(WirePath.init))
    }

    /// Ends the conflict of one copy: it becomes a kept version; a directory, of which no versions are kept, a document of its
    /// own beside the other.
    ///
    /// - Throws: `.notFound` where the document has no such copy.
    func resolve(
        _ document: RelativePath, copy name: String, sync: SyncService, committer: any LocalTreeCommitter
    ) async throws {
        guard let copy = try await copy(of: document, named: name) else {
            throw QuireError(.notFound, "\(document) has no conflict copy \(name)", remedy: "See `quire conflicts`")
        }
        if try await view.entry(at: copy).kind == .directory {
            return try await rename(copy, to: ConflictResolution.plainName(copy), committer)
        }
        try await patiently { try await sync.resolveConflict(copy, keep: .original) }
    }

    /// Removes a version for good; of a conflict copy also what is kept of it.
    ///
    /// - Throws: `.notFound` where the document has no such version; `.usage` for a directory.
    func remove(_ document: RelativePath, version name: String, sync: SyncService) async throws {
        let copy = try await copy(of: document, named: name)
        // Of an earlier conflict's copy, which may have had the same name.
        let before = copy == nil ? [] : Set(try await kept(document).map(\.path))
        if let copy {
            guard try await view.entry(at: copy).kind != .directory else {
                throw QuireError(.usage, "\(copy) is a directory", remedy: "Delete it as any other")
            }
            try await patiently { try await sync.resolveConflict(copy, keep: .original) }
        }
        let found = try await kept(document).filter {
            copy == nil ? $0.shownName == name : $0.origin == copy && !before.contains($0.path)
        }
        guard !found.isEmpty else {
            throw QuireError(
                .notFound, "\(document) has no version \(name)", remedy: "See `quire versions \(document)`")
        }
        let versions = versions
        try await Blocking.run { () throws in for version in found { try versions.remove(version) } }
    }

    private func isThere(_ document: RelativePath) async throws -> Bool {
        let tree = view.tree
        return try await Blocking.run { () throws in try tree.status(at: document) != nil }
    }

    private func copy(of document: RelativePath, named name: String) async throws -> RelativePath? {
        try await view.conflicts().copies(of: document).first { $0.name?.description == name }
    }

    /// Tries again while a document has just changed: its timestamps tell content apart only after two kernel ticks.
    private func patiently(_ body: () async throws -> Void) async throws {
        var attempts = 0
        while true {
            do {
                return try await body()
            } catch let error as QuireError {
                attempts += 1
                guard error.code == .busy, attempts < 20 else { throw error }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func rename(
        _ path: RelativePath, to destination: RelativePath, _ committer: any LocalTreeCommitter
    ) async throws {
        let tree = view.tree
        let result = try await Blocking.run { () throws -> LocalChangeResult in
            let status = try tree.requiredStatus(at: path)
            return try committer.commit(
                LocalChange(path: path, .move(to: destination), expecting: .fingerprint(status.fingerprint), base: nil))
        }
        guard case .done = result else {
            throw QuireError(.busy, "\(path) cannot be renamed to \(destination)", remedy: "Rename it yourself")
        }
    }

    private func kept(_ path: RelativePath) async throws -> [KeptVersions.Version] {
        let entry = try await view.entry(at: path)
        let versions = versions
        let found = try await Blocking.run { () throws -> [KeptVersions.Version] in
            var found = try versions.list(entry.id)
            for item in try versions.items() where item != entry.id {
                found += try versions.list(item).filter { version in
                    version.origin.map { ConflictSet(copies: [$0]).document(of: $0) == path && $0 != path } ?? false
                }
            }
            return found
        }
        return found.sorted { $0.name > $1.name }
    }
}

extension KeptVersions.Version {
    /// What users and apps call it: as its provider does, where it was brought from there.
    fileprivate var shownName: String { provided?.rawValue ?? name }
}
