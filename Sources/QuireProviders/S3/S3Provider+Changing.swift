package import QuireCore
import Synchronization

extension S3Provider {
    package func move(
        _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try validate(destination)
        try await checkWritable()
        if destination != path, destination.isInside(path) {
            throw ProviderError(.unsupported, "\(path) cannot be moved into itself")
        }
        guard let source = try await look(path) else { throw ProviderError.notFound(path) }
        let isMeant = version == source.version || version == nil && source.kind == .directory
        // A directory may be in a document's place by now.
        guard isMeant else { throw ProviderError.refused(path) }
        guard source.kind == .file else {
            throw ProviderError(.unsupported, "\(path) is a directory: an object store moves objects one by one")
        }
        try await requireParent(destination)
        guard try await look(destination) == nil else { throw ProviderError.refused(destination) }
        let moved = try await copy(source, to: destination)
        do throws(ProviderError) {
            try await remove(path, version: source.version)
        } catch {
            // Somebody changed, moved or removed it meanwhile. The copy stays: another device may have taken it for the
            // document already, and removed what it knew elsewhere; entity tags do not tell the one from the other.
            throw [.conditionFailed, .notFound].contains(error.code) ? ProviderError.refused(path) : error
        }
        return moved
    }

    package func delete(_ path: RelativePath, expecting version: ProviderVersion?) async throws(ProviderError) {
        try validate(path)
        try await checkDeletable()
        let answer = try await client.look(client.address.key(path))
        let sign = S3Sign(answer)
        if answer.isSuccess, sign == nil {
            let item = Self.item(path, answer)
            guard item.version == version else { throw ProviderError.refused(path) }
            return try await remove(path, version: item.version)
        }
        let key = client.address.directoryKey(path)
        let below = try await client.objects(below: path)
        guard !below.isEmpty || sign == .directory else {
            try await confirm()
            throw ProviderError.notFound(path)
        }
        guard version == nil || version == Self.directory(path).version else { throw ProviderError.refused(path) }
        guard below.allSatisfy({ $0.key == key && !$0.isFullMarker }) else {
            throw ProviderError(.notEmpty, "\(path) is not empty at the provider")
        }
        // What takes its place is not known, or needs room.
        try await checkWritable()
        state.withLock { _ = $0.directories.remove(path) }
        try await removeDirectory(path, sign?.version ?? below.first.map { ProviderVersion($0.entityTag) })
    }

    /// - Parameter version: the marker's.
    private func removeDirectory(_ path: RelativePath, _ version: ProviderVersion?) async throws(ProviderError) {
        let removed =
            if abilities.keepsDirectories, let version {
                try await vacancy.vacate(path, version)
            } else {
                try await client.delete(client.address.directoryKey(path), deletion(of: version))
            }
        if [409, 412].contains(removed.status) { throw ProviderError.refused(path) }
        guard removed.isSuccess || removed.status == 404 else {
            throw client.error(removed, "\(path) cannot be removed")
        }
    }

    /// What the store is to check, if it does when something is removed.
    private func deletion(of version: ProviderVersion?) -> S3Client.Condition {
        guard abilities.deletesChecked, let version else { return .none }
        return .version(abilities.tag(version))
    }

    /// Removes a file of this version.
    func remove(_ path: RelativePath, version: ProviderVersion) async throws(ProviderError) {
        var vacates = abilities.removesByVacancy
        if !vacates { vacates = try await vacancy.isDirectoryWithContent(path) }
        let answer =
            vacates
            ? try await vacancy.vacate(path, version)
            : try await client.delete(client.address.key(path), deletion(of: version))
        if answer.isSuccess { return }
        switch answer.status {
        case 404: throw ProviderError.notFound(path)
        case 412, 409: throw ProviderError.refused(path)
        default: throw client.error(answer, "\(path) cannot be removed")
        }
    }

    /// At the store where it heeds conditions on copies; else by way of this device.
    ///
    /// Of a copy and an upload that make the same object at the same moment, stores that keep keys as a tree of files let both
    /// win now and then (SeaweedFS 4.48: once in a hundred times), and one of both documents is gone. Of two uploads one wins:
    /// what is small goes by way of this device there, too.
    func copy(_ source: RemoteItem, to destination: RelativePath) async throws(ProviderError) -> RemoteItem {
        var copy = source
        copy.path = destination
        let isCarried = abilities.keepsDirectories && source.size.bytes <= Self.mostCarried
        // Of what is larger than one request a copy is put together from parts, without a condition.
        guard abilities.copiesChecked, source.size.bytes <= mostInOne, !isCarried else {
            return try await carry(source, to: destination)
        }
        var tag: String?
        let answer = try await vacancy.publish(destination, .absent) { (condition) async throws(ProviderError) in
            let copied = try await client.copy(
                client.address.key(source.path), unchanged: abilities.tag(source.version),
                to: client.address.key(destination), condition, size: source.size)
            tag = copied.entityTag
            return copied.answer
        }
        // What is not there is the source: another device has removed it.
        if answer.status == 404, client.error(answer, "").code == .notFound { throw ProviderError.refused(source.path) }
        guard answer.isSuccess else { throw writingError(answer, destination) }
        guard let tag else {
            guard let found = try await look(destination), found.kind == .file, found.size == source.size else {
                throw ProviderError.refused(destination)
            }
            return found
        }
        copy.version = ProviderVersion(tag)
        if abilities.keepsDirectories {
            guard try await look(destination)?.version == copy.version else { throw ProviderError.refused(destination) }
        }
        return copy
    }

    /// In bytes.
    private static let mostCarried: Int64 = 4 << 20

    private func carry(_ source: RemoteItem, to destination: RelativePath) async throws(ProviderError) -> RemoteItem {
        let others = S3Metadata.others(try await client.look(client.address.key(source.path)))
        let file = try TransitFile()
        let fetched: RemoteItem
        do throws(ProviderError) {
            fetched = try await fetch(source.path, version: source.version, to: file.path) { _ in }
        } catch {
            // Another device has removed it.
            throw error.code == .notFound ? ProviderError.refused(source.path) : error
        }
        guard let checksum = fetched.checksum else { throw ProviderError.refused(source.path) }
        return try await put(
            destination, UploadContent(snapshotPath: file.path, size: fetched.size, checksum: checksum),
            RemoteAttributes(mtime: source.mtime, mode: source.mode ?? 0o644), .absent, keeping: others)
    }
}
