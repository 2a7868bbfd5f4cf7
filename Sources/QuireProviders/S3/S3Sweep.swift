import QuireCore

/// Removes what earlier uploads and probes of any device left behind, when it is old by the store's own clock.
struct S3Sweep {
    let client: S3Client

    private static let objectAge = 86_400
    /// Since it was begun, or since the last of its parts came: an upload may go on after days without a network, and may take
    /// more than a week.
    private static let uploadAge = 7 * 86_400

    /// What fails is left to the next time: nothing depends on it.
    ///
    /// - Returns: the keys of documents' uploads that were begun and are not published; nil where they are not known.
    @discardableResult
    func run() async -> Set<[UInt8]>? {
        guard let time = try? await client.head(client.address.key(StoreLayout.mark)).date else { return nil }
        return await run(at: time)
    }

    /// - Parameter time: the store's.
    /// - Returns: as `run()`.
    @discardableResult
    func run(at time: FileTime) async -> Set<[UInt8]>? {
        let whole = await sweepObjects(at: time)
        let parts = await sweepUploads(at: time)
        guard let whole, let parts else { return nil }
        return whole.union(parts)
    }

    /// - Returns: the keys of what stays among temporary objects; nil where they could not be listed.
    private func sweepObjects(at time: FileTime) async -> Set<[UInt8]>? {
        var left: Set<[UInt8]>? = []
        for directory in [S3Layout.probes, StoreLayout.temporary] {
            guard let objects = try? await client.listAll(client.address.directoryKey(directory)) else {
                left = nil
                continue
            }
            for object in objects {
                let age = time.seconds - object.modified.seconds
                if S3UploadNote.isPlace(object.key) {
                    if age > Self.uploadAge { await end(object.key, at: time) }
                } else if age > Self.objectAge {
                    _ = try? await client.delete(object.key)
                } else {
                    left?.insert(object.key)
                }
            }
        }
        return left
    }

    /// - Returns: the keys of the uploads that go on; nil where not all could be listed.
    private func sweepUploads(at time: FileTime) async -> Set<[UInt8]>? {
        let directory = client.address.directoryKey(StoreLayout.temporary)
        guard let found = try? await client.listUploads(directory) else { return nil }
        var left: Set<[UInt8]> = []
        for upload in found.uploads {
            if upload.begun.seconds > 0, time.seconds - upload.begun.seconds > Self.uploadAge,
                let isUnderWay = try? await isUnderWay(upload, at: time), !isUnderWay
            {
                _ = try? await client.abort(upload)
            } else {
                left.insert(upload.key)
            }
        }
        return found.areAll ? left : nil
    }

    /// Whether a part of it has come not long ago.
    private func isUnderWay(_ upload: S3Client.Upload, at time: FileTime) async throws(ProviderError) -> Bool {
        let parts = try await client.parts(upload.key, upload.id) ?? [:]
        return parts.values.contains { time.seconds - $0.modified.seconds <= Self.uploadAge }
    }

    /// Ends an upload to a document's own key, unless it goes on. Its note goes last: without it nobody would know of the
    /// upload.
    private func end(_ place: [UInt8], at time: FileTime) async {
        do {
            if let note = try await S3UploadNote(at: place, client) {
                let upload = S3Client.Upload(key: note.key, id: note.upload, begun: .unknown)
                if try await isUnderWay(upload, at: time) { return }
                try await client.abort(upload)
            }
            _ = try await client.delete(place)
        } catch {
            // It is there the next time.
        }
    }
}
