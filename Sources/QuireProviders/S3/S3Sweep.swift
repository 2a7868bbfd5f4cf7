import QuireCore

/// Removes what earlier uploads and probes of any device left behind, when it is old by the store's own clock.
struct S3Sweep {
    let client: S3Client

    private static let objectAge = 86_400
    /// An upload in parts may go on after days without a network.
    private static let uploadAge = 7 * 86_400

    /// What fails is left to the next time: nothing depends on it.
    func run() async {
        guard let now = try? await client.head(client.address.key(StoreLayout.mark)).fields["Date"],
            let time = HTTPDate.parse(now)
        else { return }
        for directory in [S3Layout.probes, StoreLayout.temporary] {
            let objects = (try? await client.listAll(client.address.directoryKey(directory))) ?? []
            for object in objects where time.seconds - object.modified.seconds > Self.objectAge {
                _ = try? await client.delete(object.key)
            }
        }
        let uploads = (try? await client.uploads(client.address.directoryKey(StoreLayout.temporary))) ?? []
        for upload in uploads where upload.begun.seconds > 0 && time.seconds - upload.begun.seconds > Self.uploadAge {
            _ = try? await client.abort(upload)
        }
    }
}
