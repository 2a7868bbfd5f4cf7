import Crypto
import QuireCore

/// Gives names that were directories' to others, at stores that keep keys as a tree of files
/// (`S3Abilities.keepsDirectories`).
///
/// Such a store (SeaweedFS) has a directory still when the last key below it is gone: no listing shows it, and nothing can
/// be created at its name. Minutes later it removes what is at that name, and asks only whether anything is below it: a
/// document that was put there meanwhile is lost. It spares directories that have content of their own, as markers have,
/// and documents that took a directory's place while it was there. So no place is given up at once: a directory that is
/// removed becomes a vacancy, an object with a content that says so (`S3Sign`), which everybody leaves out of the tree.
///
/// ```
/// directory               delete     vacancy
/// vacancy                 create     document with a directory's nature, or an object that stands for a directory
/// either of these         delete     vacancy
/// left over by others     create     vacancy, then as above
/// vacancy, an hour later  sweep      nothing: the store has forgotten the directory
/// ```
/// Stores of another kind (`S3Abilities.removesByVacancy`; Ceph) heed conditions when something is written, not when it is
/// removed. There a document is removed by putting a vacancy in its place, which stays: nothing can remove it that would not
/// also remove a document that takes its place at that moment.
///
/// Each step is one request under a condition, on the key without a slash: the store does not order those with requests on
/// the key with one, and of two at the same moment both would win. Only what others have left is taken by the latter.
struct S3Vacancy: Sendable {
    let client: S3Client
    let abilities: S3Abilities

    /// In seconds. The store removes what it has in mind after two or three minutes.
    private static let age = 3600
    private static let mostSwept = 100

    /// What a directory's marker is sent with.
    static let markerFields: HTTPFields = ["Content-Type": "application/x-directory"]

    /// Sends a document to `path`, where that creates something also into a vacancy, or into what a directory of others has
    /// left.
    ///
    /// - Parameter request: the request under the condition that it is given; at most two times.
    /// - Returns: the answer to the last request.
    func publish(
        _ path: RelativePath, _ condition: S3Client.Condition,
        _ request: (S3Client.Condition) async throws(ProviderError) -> HTTPAnswer
    ) async throws(ProviderError) -> HTTPAnswer {
        let answer = try await request(condition)
        guard case .absent = condition, answer.status == 412, abilities.keepsDirectories || abilities.removesByVacancy,
            try await isVacant(path)
        else { return answer }
        return try await request(.version(abilities.tag(S3Sign.vacancy.version)))
    }

    /// Makes a directory, as `publish` does a document.
    func makeDirectory(
        _ path: RelativePath, _ condition: S3Client.Condition
    ) async throws(ProviderError) -> HTTPAnswer {
        let answer = try await client.put(
            client.address.directoryKey(path), .bytes([]), condition, fields: Self.markerFields)
        guard case .absent = condition, answer.status == 412, abilities.keepsDirectories, try await isVacant(path)
        else { return answer }
        return try await set(.directory, path, S3Sign.vacancy.version)
    }

    /// Removes a directory, or a document with a directory's nature: what is there becomes a vacancy.
    ///
    /// - Parameter version: what it must be.
    /// - Returns: the store's answer; 412 where something else is there.
    func vacate(_ path: RelativePath, _ version: ProviderVersion) async throws(ProviderError) -> HTTPAnswer {
        try await set(.vacancy, path, version)
    }

    private func set(
        _ sign: S3Sign, _ path: RelativePath, _ version: ProviderVersion
    ) async throws(ProviderError) -> HTTPAnswer {
        try await client.put(
            client.address.key(path), .bytes(sign.content), .version(abilities.tag(version)), fields: Self.markerFields)
    }

    /// Whether nothing but a vacancy is in the place; what others have left becomes one.
    private func isVacant(_ path: RelativePath) async throws(ProviderError) -> Bool {
        let key = client.address.directoryKey(path)
        let there = abilities.keepsDirectories ? try await client.look(key) : nil
        guard let there, there.isSuccess else {
            // Also one that took the place of a document which was no directory, or whose directory the store has forgotten.
            return try await S3Sign(client.look(client.address.key(path))) == .vacancy
        }
        guard try await client.objects(below: path).isEmpty else { return false }
        if S3Sign(there) == .vacancy { return true }
        // What has no content of its own has an empty tag, whatever the answer says.
        let answer = try await client.put(
            key, .bytes(S3Sign.vacancy.content), .version("\"\""), fields: Self.markerFields)
        // A store that is busy has not said that something is there.
        guard answer.isSuccess || [409, 412].contains(answer.status) else {
            throw client.error(answer, "\(path) cannot be taken")
        }
        return answer.isSuccess
    }

    /// Whether the store has the document at `path` as a directory with content.
    func isDirectoryWithContent(_ path: RelativePath) async throws(ProviderError) -> Bool {
        guard abilities.keepsDirectories else { return false }
        return try await client.look(client.address.directoryKey(path)).isSuccess
    }

    /// Removes vacancies that the store has forgotten, by its own clock. What fails is left to the next listing.
    func sweep(_ objects: [S3Object]) async {
        let vacancies = objects.filter { S3Sign($0) == .vacancy }
        guard !vacancies.isEmpty, let answer = try? await client.head(client.address.key(StoreLayout.mark)),
            let now = answer.date
        else { return }
        await sweep(vacancies, now: now)
    }

    /// - Parameter now: the store's time.
    func sweep(_ vacancies: [S3Object], now: FileTime) async {
        let old = vacancies.lazy.filter { now.seconds - $0.modified.seconds > Self.age }
        for object in old.prefix(Self.mostSwept) {
            _ = try? await client.delete(object.key, .version(abilities.tag(S3Sign.vacancy.version)))
        }
    }
}
