package import QuireCore

extension WebDAVProvider {
    package func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        let body = HTTPRequest.Body.file(
            path: content.snapshotPath, offset: 0, length: content.size.bytes, checksum: content.checksum)
        return try await put(path, body, attributes, expecting) { content.checksum }
    }

    /// Publishes content, and takes what is there then for that, with its checksum: where it is of the same size, and of the
    /// version that was sent, as far as the server tells which that was (`DAVAbilities.written`). Else it is refused,
    /// as nothing that others may have written must get this checksum: a pull compares what is there with what was sent.
    /// A server that tells no versions of what it has written is believed by the size.
    ///
    /// Of another size it is what the server made of it, where no other device can have written: under a lock, or where the
    /// version is the one that was sent. Another program's write in that moment is taken for that, too: both are kept.
    ///
    /// - Parameter checksum: asked when the body was sent.
    func put(
        _ path: RelativePath, _ body: HTTPRequest.Body, _ attributes: RemoteAttributes, _ expecting: Precondition,
        checksum: @escaping @Sendable () -> ContentChecksum?
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try await checkRoom()
        let size = ByteCount(body.length)
        let staged = abilities.putsWhole ? nil : try await stage(body, path)
        do throws(ProviderError) {
            return try await changing([path]) { (confirm) throws(ProviderError) in
                var before = try await self.expect(path, expecting)
                if try await self.outlast(before) { before = try await self.expect(path, expecting) }
                let sent = try await self.restaged(staged, body, path, over: before)
                if sent != nil || !self.abilities.guards(before?.entityTag, exists: before != nil) {
                    try await confirm()
                }
                var after = try await self.write(path, body, sent, over: before)
                if before?.item.version == after.item.version, self.abilities.isTimeBased {
                    // The server's dates are another clock's than its times of change: once more, when that has gone on.
                    try await self.client.clock.pause(DAVSecond.length)
                    before = try await self.expect(path, .version(after.item.version))
                    let again = if let sent { try await self.stage(body, path, as: sent.path) } else { Staged?.none }
                    try await confirm()
                    after = try await self.write(path, body, again, over: before)
                }
                return try await self.stamped(try self.taken(after, size, checksum(), over: before), attributes)
            }
        } catch {
            if let staged { await client.discard(staged.path) }
            throw error
        }
    }

    package func putSymlink(
        _ path: RelativePath, target: [UInt8], mtime: FileTime, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        throw ProviderError(.unsupported, "\(path): WebDAV has no symbolic links")
    }

    package func createDirectory(
        _ path: RelativePath, attributes: RemoteAttributes
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try checkConnected()
        return try await changing([path]) { (_) throws(ProviderError) in
            _ = try await self.expect(path, .absent)
            let answer = try await self.client.makeCollection(path)
            guard answer.isSuccess else {
                if answer.status == 405, try await self.isDirectory(path.parent) { throw ProviderError.refused(path) }
                throw try await self.refusal(answer, path, "created")
            }
            guard let made = try await self.look(path)?.item, made.kind == .directory else {
                throw ProviderError.refused(path)
            }
            return try await self.stamped(made, attributes)
        }
    }

    /// Runs `body` with the names of `paths` to this device alone, where the server has locks: as `DAVClient.withLocks`.
    func changing<Value: Sendable>(
        _ paths: [RelativePath],
        _ body: @escaping @Sendable (_ confirm: DAVLockConfirmation) async throws(ProviderError) -> Value
    ) async throws(ProviderError) -> Value {
        if abilities.locks {
            // Names that are one place have one lock.
            let places = abilities.folding.contains(.letterCase) ? paths.map(\.lowercased) : paths
            return try await client.withLocks(on: places, body)
        }
        return try await body(DAVLockConfirmation(client: client))
    }

    /// What is at `path`, if the precondition holds.
    func expect(
        _ path: RelativePath, _ expecting: Precondition
    ) async throws(ProviderError) -> DAVFinding? {
        let found = try await look(path)
        switch expecting {
        case .absent:
            guard found == nil else { throw ProviderError(.conditionFailed, "\(path) is already at the provider") }
        case .version(let version):
            guard let found, found.item.kind == .file, found.item.version == version else {
                throw ProviderError.refused(path)
            }
        }
        return found
    }

    /// An answer that is no success, as an error; finds out whether a missing parent is the reason, which servers say in
    /// different ways.
    func refusal(
        _ answer: HTTPAnswer, _ path: RelativePath, _ action: String
    ) async throws(ProviderError) -> ProviderError {
        if answer.status == 412 { return ProviderError.refused(path) }
        if [400, 403, 404, 405, 409, 500].contains(answer.status) {
            guard try await isDirectory(path.parent) else { return ProviderError.parentMissing(path) }
        }
        return client.error(answer, path, action)
    }

    /// Whether a directory is at `path`; nil is not asked about.
    func isDirectory(_ path: RelativePath?) async throws(ProviderError) -> Bool {
        guard let path else { return true }
        return try await look(path)?.item.kind == .directory
    }

    /// Adds what the server has no place for, where it keeps properties. A name that is too long for a property, or a
    /// server that has no room for one, costs the attributes only.
    func stamped(_ item: RemoteItem, _ attributes: RemoteAttributes) async throws(ProviderError) -> RemoteItem {
        guard abilities.stamps else { return item }
        let stamp = DAVStamp(
            mtime: attributes.mtime, mode: attributes.mode, checksum: item.checksum,
            tags: attributes.tags ?? item.tags ?? [], version: item.version)
        guard try await client.stamp(item.path, isDirectory: item.kind == .directory, stamp) else { return item }
        var item = item
        item.mtime = attributes.mtime
        item.mode = attributes.mode & 0o777
        item.tags = stamp.tags
        return item
    }

    /// Content that was sent to a name of its own, where nobody else writes.
    private struct Staged: Sendable {
        let path: RelativePath
        /// The one that it has in its place, too; nil where that cannot be told.
        let version: ProviderVersion?
    }

    /// What is there after a write.
    private struct Published: Sendable {
        var item: RemoteItem
        /// Whether it has the version that was sent; nil where the server does not tell which that was.
        var isSent: Bool?
    }

    /// What was published, as this device's: with the checksum of what was sent, or as what the server made of that.
    private func taken(
        _ after: Published, _ size: ByteCount, _ checksum: ContentChecksum?, over before: DAVFinding?
    ) throws(ProviderError) -> RemoteItem {
        var item = after.item
        if item.kind == .file, item.size == size, after.isSent != false {
            item.checksum = checksum
            return item
        }
        // A look that shows what was there before says nothing of what was sent.
        let isOther = item.version != before?.item.version
        guard item.kind == .file, item.size != size, isOther, abilities.locks || after.isSent == true else {
            throw ProviderError(
                .conditionFailed,
                "\(item.path) is not what was sent: \(size.bytes) bytes were, and \(item.size.bytes) are at the server now. "
                    + "Another device has written it, or the server changes what it is sent", isTaken: true)
        }
        item.checksum = nil
        return item
    }

    /// Publishes content and looks at what is there then.
    private func write(
        _ path: RelativePath, _ body: HTTPRequest.Body, _ staged: Staged?, over before: DAVFinding?
    ) async throws(ProviderError) -> Published {
        let answer: HTTPAnswer
        let version: ProviderVersion?
        if let staged {
            answer = try await client.move(
                staged.path, to: path, overwrite: before != nil, size: ByteCount(body.length))
            version = staged.version
        } else {
            let condition =
                before.map { abilities.unchanged($0.entityTag, client.address.url(path)) } ?? abilities.absent
            answer = try await client.put(path, body, condition)
            version = abilities.written(answer)
        }
        guard answer.isSuccess else { throw try await refusal(answer, path, "written") }
        guard let after = try await look(path)?.item else { throw ProviderError.refused(path) }
        return Published(item: after, isSent: version.map { $0 == after.version })
    }

    /// What was staged; sent once more where its version is that of what it is to replace, and made of size and second.
    private func restaged(
        _ staged: Staged?, _ body: HTTPRequest.Body, _ path: RelativePath, over before: DAVFinding?
    ) async throws(ProviderError) -> Staged? {
        guard abilities.isTimeBased, let staged, let version = staged.version, version == before?.item.version else {
            return staged
        }
        return try await stage(body, path, as: staged.path)
    }

    /// Sends content to a name of its own.
    private func stage(
        _ body: HTTPRequest.Body, _ path: RelativePath, as staged: RelativePath = StoreLayout.staging()
    ) async throws(ProviderError) -> Staged {
        do throws(ProviderError) {
            let answer = try await client.put(staged, body)
            guard answer.isSuccess else { throw client.error(answer, path, "written") }
            guard abilities.movesVersions else { return Staged(path: staged, version: nil) }
            if let version = abilities.written(answer) { return Staged(path: staged, version: version) }
            return Staged(path: staged, version: try await look(staged)?.item.version)
        } catch {
            await client.discard(staged)
            throw error
        }
    }
}
