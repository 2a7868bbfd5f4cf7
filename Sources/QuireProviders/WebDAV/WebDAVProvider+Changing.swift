package import QuireCore

extension WebDAVProvider {
    package func setAttributes(
        _ path: RelativePath, _ attributes: RemoteAttributes, expecting version: ProviderVersion
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try checkConnected()
        guard abilities.stamps else {
            throw ProviderError(.unsupported, "\(path): this server keeps no attributes")
        }
        return try await changing([path]) { (confirm) throws(ProviderError) in
            let before = try await self.present(path, version)
            try await confirm()
            return try await self.stamped(before.item, attributes)
        }
    }

    /// Moves what has the version that is expected, under a condition where the server heeds one, and looks at what has come
    /// (`DAVFinding.isMoved`). What is surely another document goes back, where its old name is free; what may be one
    /// stays. Either is refused: a pull finds out what is where.
    package func move(
        _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try validate(destination)
        if destination != path, destination.isInside(path) {
            throw ProviderError(.unsupported, "\(path) cannot be moved into itself")
        }
        try checkConnected()
        return try await changing([path, destination]) { (confirm) throws(ProviderError) in
            let before = try await self.settled(path, version)
            _ = try await self.expect(destination, .absent)
            // Some servers make the directories that a MOVE needs.
            guard try await self.isDirectory(destination.parent) else { throw ProviderError.parentMissing(destination) }
            try await confirm()
            let condition = self.condition(before, path)
            let answer = try await self.client.move(
                path, to: destination, isDirectory: before.item.kind == .directory, overwrite: false,
                size: before.item.size, condition)
            guard answer.isSuccess else { throw try await self.refusal(answer, destination, "moved there") }
            guard let after = try await self.look(destination) else {
                throw ProviderError(.failed, "\(destination) was moved away at once by another program")
            }
            let isMoved = before.isMoved(
                as: after, keepsVersion: self.abilities.movesVersions, isGuarded: !condition.list.isEmpty)
            guard isMoved == true else {
                if isMoved == false {
                    try await confirm()
                    _ = try? await self.client.move(
                        destination, to: path, isDirectory: after.item.kind == .directory, overwrite: false,
                        size: after.item.size, self.condition(after, destination))
                }
                throw ProviderError.refused(path)
            }
            var item = after.item
            if item.checksum == nil, item.version == before.item.version { item.checksum = before.item.checksum }
            return item
        }
    }

    /// The fields that let a MOVE happen only while what was found is at `path`; none for directories.
    private func condition(_ found: DAVFinding, _ path: RelativePath) -> HTTPFields {
        found.item.kind == .directory ? [:] : abilities.unmoved(found.entityTag, client.address.url(path))
    }

    package func delete(_ path: RelativePath, expecting version: ProviderVersion?) async throws(ProviderError) {
        try validate(path)
        try checkConnected()
        // What is not there may have been moved aside by an earlier try.
        if let failure = await settleRemovals()[path] { throw failure }
        let left = try await changing([path]) { (confirm) throws(ProviderError) -> RelativePath? in
            let before = try await self.settled(path, version)
            try await confirm()
            if before.item.kind == .directory { return try await self.deleteEmpty(path) }
            let answer = try await self.client.delete(
                path, self.abilities.unchanged(before.entityTag, self.client.address.url(path)))
            try self.checkDeleted(answer, path)
            return nil
        }
        if let left { try await returnAll(in: left, to: path) }
    }

    /// What is at `path`, if it has `version`; a directory may have any where none is named.
    private func present(
        _ path: RelativePath, _ version: ProviderVersion?
    ) async throws(ProviderError) -> DAVFinding {
        guard let found = try await look(path) else { throw ProviderError.notFound(path) }
        guard version == nil ? found.item.kind == .directory : found.item.version == version else {
            throw ProviderError.refused(path)
        }
        return found
    }

    /// As `present`, once the second of its version is over (`outlast`).
    private func settled(_ path: RelativePath, _ version: ProviderVersion?) async throws(ProviderError) -> DAVFinding {
        let found = try await present(path, version)
        return try await outlast(found) ? try await present(path, version) : found
    }

    func checkDeleted(_ answer: HTTPAnswer, _ path: RelativePath) throws(ProviderError) {
        switch answer.status {
        case 207: throw ProviderError(.failed, "\(path) cannot be removed: the server could remove a part of it only")
        case 200..<300: return
        case 404, 410: throw ProviderError.notFound(path)
        default: throw client.transport.error(answer, "\(path) cannot be removed")
        }
    }
}
