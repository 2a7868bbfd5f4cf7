package import QuireCore
import Synchronization

extension S3Provider: DirectUploading {
    /// What an object remembers of a document, its checksum, is sent before the document.
    package var takesLiveDocuments: Bool { false }

    package func put(
        _ path: RelativePath, direct content: DirectContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        guard case .bytes(let bytes, let checksum) = content else {
            throw ProviderError(.unsupported, "\(path): object stores want to know a document before it is sent")
        }
        return try await put(path, content.size, checksum, attributes, expecting) { (fields) throws(ProviderError) in
            try await S3WholeUpload(
                client: client, abilities: abilities, path: path, body: .bytes(bytes), checksum: checksum,
                fields: fields, condition: condition(expecting)
            ).run()
        }
    }
}

extension S3Provider {
    package func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try await put(path, content, attributes, expecting, keeping: [:])
    }

    /// - Parameter kept: what the object is to remember besides.
    func put(
        _ path: RelativePath, _ content: UploadContent, _ attributes: RemoteAttributes, _ expecting: Precondition,
        keeping kept: HTTPFields
    ) async throws(ProviderError) -> RemoteItem {
        try await put(path, content.size, content.checksum, attributes, expecting) { (fields) throws(ProviderError) in
            var fields = fields
            for field in kept.list { fields[field.name] = field.value }
            return try await S3Upload(
                client: client, abilities: abilities, path: path, content: content, fields: fields,
                condition: condition(expecting), haste: haste, mostInOne: mostInOne
            ).run()
        }
    }

    /// - Parameter send: given what the object is to remember; returns the answer to what published it.
    private func put(
        _ path: RelativePath, _ size: ByteCount, _ checksum: ContentChecksum, _ attributes: RemoteAttributes,
        _ expecting: Precondition, _ send: (HTTPFields) async throws(ProviderError) -> HTTPAnswer
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try await checkWritable()
        try await requireParent(path)
        try await expect(path, expecting)
        let answer = try await send(S3Metadata.fields(attributes, checksum))
        guard answer.isSuccess else { throw writingError(answer, path, expecting) }
        guard let tag = answer.fields["ETag"], !tag.isEmpty else {
            return try await written(path, size, checksum)
        }
        return RemoteItem(
            path: path, kind: .file, version: ProviderVersion(S3EntityTag.plain(tag)), size: size,
            mtime: attributes.mtime, checksum: checksum)
    }

    /// What a store that does not tell the version of what was written has there right after.
    private func written(
        _ path: RelativePath, _ size: ByteCount, _ checksum: ContentChecksum
    ) async throws(ProviderError) -> RemoteItem {
        let answer = try await client.head(client.address.key(path))
        var item = Self.item(path, answer)
        guard answer.isSuccess, item.size == size, (item.checksum ?? S3Metadata.claim(answer)) == checksum else {
            throw ProviderError.refused(path)
        }
        item.checksum = checksum
        return item
    }

    package func putSymlink(
        _ path: RelativePath, target: [UInt8], mtime: FileTime, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        throw ProviderError(.unsupported, "\(path): object stores have no symbolic links")
    }

    package func createDirectory(
        _ path: RelativePath, attributes: RemoteAttributes
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try await checkWritable()
        try await requireParent(path)
        guard try await look(path) == nil else { throw ProviderError.refused(path) }
        let condition: S3Client.Condition = abilities.createsOnce ? .absent : .none
        let answer = try await vacancy.makeDirectory(path, condition)
        guard answer.isSuccess else { throw writingError(answer, path) }
        state.withLock { _ = $0.directories.insert(path) }
        return Self.directory(path)
    }

    package func setAttributes(
        _ path: RelativePath, _ attributes: RemoteAttributes, expecting version: ProviderVersion
    ) async throws(ProviderError) -> RemoteItem {
        throw ProviderError(.unsupported, "\(path): listings of object stores have no attributes")
    }

    /// What the store is to check.
    func condition(_ expecting: Precondition) -> S3Client.Condition {
        switch expecting {
        case .absent: abilities.createsOnce ? .absent : .none
        case .version(let version): abilities.replacesChecked ? .version(abilities.tag(version)) : .none
        }
    }

    /// What the store does not check: that a new document takes no directory's place; and where it checks nothing, the
    /// condition itself, which another writer may still break right after.
    func expect(_ path: RelativePath, _ expecting: Precondition) async throws(ProviderError) {
        switch expecting {
        case .absent where abilities.createsOnce:
            if !abilities.guardsDirectories, try await isDirectory(path) { throw ProviderError.refused(path) }
        case .absent: if try await look(path) != nil { throw ProviderError.refused(path) }
        case .version(let version):
            guard !abilities.replacesChecked else { return }
            guard let found = try await look(path), found.version == version else { throw ProviderError.refused(path) }
        }
    }

    /// Directories come about with what lies in them, but a document whose directory is gone is not meant to bring it back
    /// unasked.
    func requireParent(_ path: RelativePath) async throws(ProviderError) {
        guard let parent = path.parent, !parent.isRoot else { return }
        if state.withLock({ $0.directories.contains(parent) }) { return }
        guard try await isDirectory(parent) else {
            try await confirm()
            throw ProviderError.parentMissing(path)
        }
        state.withLock { _ = $0.directories.insert(parent) }
    }

    func writingError(
        _ answer: HTTPAnswer, _ path: RelativePath, _ expecting: Precondition = .absent
    ) -> ProviderError {
        if answer.status == 412 { return ProviderError.refused(path) }
        let error = client.error(answer, "\(path) cannot be written")
        guard error.code == .notFound else { return error }
        // A key to be replaced that is not there is 404 at AWS; a new one is where the store takes the key for something else.
        return expecting == .absent
            ? ProviderError(.invalidName, "\(path): the store does not take this name; rename it", cause: error.cause)
            : ProviderError.refused(path)
    }
}
