import QuireCore

/// Removes what earlier uploads and probes of any device left behind, when it is old by the store's own clock.
struct S3Sweep {
    let client: S3Client

    private static let objectAge = 86_400
    /// Since it was begun, or since the last of its parts came: an upload may go on after days without a network, and may take
    /// more than a week.
    private static let uploadAge = 7 * 86_400

    /// What fails is left to the next time: nothing depends on it.
    func run() async {
        guard let time = try? await client.head(client.address.key(StoreLayout.mark)).date else { return }
        await run(at: time)
    }

    /// - Parameter time: the store's.
    func run(at time: FileTime) async {
        for directory in [S3Layout.probes, StoreLayout.temporary] {
            let objects = (try? await client.listAll(client.address.directoryKey(directory))) ?? []
            for object in objects {
                let age = time.seconds - object.modified.seconds
                if S3UploadNote.isPlace(object.key) {
                    if age > Self.uploadAge { await end(object.key, at: time) }
                } else if age > Self.objectAge {
                    _ = try? await client.delete(object.key)
                }
            }
        }
        let uploads = (try? await client.uploads(client.address.directoryKey(StoreLayout.temporary))) ?? []
        for upload in uploads where upload.begun.seconds > 0 && time.seconds - upload.begun.seconds > Self.uploadAge {
            guard let isUnderWay = try? await isUnderWay(upload, at: time), !isUnderWay else { continue }
            _ = try? await client.abort(upload)
        }
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
