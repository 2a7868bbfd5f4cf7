package import QuireCore

/// What a store does with conditions, found by trying.
package struct S3Abilities: Sendable, Hashable {
    /// `If-None-Match: *` keeps what is there.
    package var createsOnce = false
    /// `If-Match` keeps what is another.
    package var replacesChecked = false
    /// Ceph wants entity tags without quotes.
    package var wantsQuotes = true
    /// `If-Match` keeps what is another from being removed.
    package var deletesChecked = false
    /// A copy heeds conditions on what it replaces and on what it copies.
    package var copiesChecked = false
    /// The bucket keeps what was replaced.
    package var keepsVersions = false
    /// Bytes that a key cannot have: SeaweedFS takes a backslash for a slash, and the document would lie elsewhere.
    package var refusedBytes: Set<UInt8> = []
    /// A directory whose last key is gone is in the way of others: see `S3Vacancy`.
    package var keepsDirectories = false

    /// As the engine sees it.
    package var capabilities: ProviderCapabilities {
        ProviderCapabilities(
            conditionalWrites: createsOnce && replacesChecked && deletesChecked ? .atomic : .detected,
            stableIdentifiers: false, directoryMoves: false, symlinks: false, attributes: false, arbitraryNames: false,
            earlierVersions: keepsVersions)
    }

    /// An entity tag as the store wants it.
    func tag(_ version: ProviderVersion) -> String { wantsQuotes ? "\"\(version.rawValue)\"" : version.rawValue }
}

/// Tries what a store does with conditions, on objects below `.quire/probe/`.
struct S3Probe {
    private let client: S3Client
    private let path: RelativePath

    private var key: [UInt8] { client.address.key(path) }
    private var copyKey: [UInt8] { key + Array("-copy".utf8) }
    /// What stores were seen to change or refuse.
    private static let risky = Array("\\\n".utf8)

    static func run(_ client: S3Client) async throws(ProviderError) -> S3Abilities {
        let probe = S3Probe(client: client, path: S3Layout.probe())
        do throws(ProviderError) {
            let found = try await probe.run()
            await probe.clean()
            return found
        } catch {
            await probe.clean()
            throw error
        }
    }

    private func run() async throws(ProviderError) -> S3Abilities {
        var abilities = S3Abilities()
        let first = try await put("one", .absent)
        guard first.isSuccess, let tag = first.fields["ETag"].map({ S3EntityTag.plain($0) }) else {
            throw client.error(first, "\(client.address.place) cannot be written to")
        }
        abilities.createsOnce = try refuses(try await put("two", .absent))
        let wrong = "\"\(String(repeating: "0", count: 32))\""
        if abilities.createsOnce, try refuses(try await put("two", .version(wrong))) {
            if try sure(try await put("two", .version("\"\(tag)\""))).isSuccess {
                abilities.replacesChecked = true
            } else if try sure(try await put("two", .version(tag))).isSuccess {
                abilities.replacesChecked = true
                abilities.wantsQuotes = false
            }
        }
        let copied = try await client.copy(key, unchanged: wrong, to: copyKey, .none).answer
        if try refuses(copied, orFails: true), try sure(try await put("there", .none, copyKey)).isSuccess {
            let second = try await client.copy(key, unchanged: nil, to: copyKey, .absent).answer
            abilities.copiesChecked = try refuses(second, orFails: true)
        }
        let kept = try await client.delete(key, .version(abilities.tag(ProviderVersion(S3EntityTag.plain(wrong)))))
        if try refuses(kept) { abilities.deletesChecked = try sure(try await client.head(key)).isSuccess }
        abilities.keepsVersions = try await client.keepsVersions()
        if abilities.createsOnce, abilities.replacesChecked {
            abilities.keepsDirectories = try await keepsDirectories(abilities)
        }
        for byte in Self.risky where try await !isKept(byte) { abilities.refusedBytes.insert(byte) }
        return abilities
    }

    /// Whether an answer refuses what a condition is against. A store that knows no such condition says so, or does it.
    ///
    /// - Parameter orFails: a store may also fail at it, which is no refusal.
    private func refuses(_ answer: HTTPAnswer, orFails: Bool = false) throws(ProviderError) -> Bool {
        if orFails, answer.status == 500 { return false }
        return try [409, 412].contains(sure(answer).status)
    }

    /// An answer that is about what was asked: a store that is busy for a moment must not be taken for one that knows
    /// conditions, nor for one that knows none.
    private func sure(_ answer: HTTPAnswer) throws(ProviderError) -> HTTPAnswer {
        guard !answer.provesNothing, answer.status != 403, answer.status != 500 else {
            throw client.error(answer, "\(client.address.place) cannot be tried")
        }
        return answer
    }

    /// Whether a directory stays after its last key, and its place can be taken as `S3Vacancy` does.
    private func keepsDirectories(_ abilities: S3Abilities) async throws(ProviderError) -> Bool {
        var abilities = abilities
        abilities.keepsDirectories = true
        let vacancy = S3Vacancy(client: client, abilities: abilities)
        guard let name = path.name, let parent = path.parent,
            let directory = FileName(name.bytes + Array("-directory".utf8)).map(parent.appending)
        else { return false }
        let inside = client.address.directoryKey(directory) + Array("inside".utf8)
        _ = try sure(try await put("inside", .none, inside))
        _ = try sure(try await client.delete(inside))
        guard try await vacancy.isDirectoryWithContent(directory) else { return false }
        let taken = try await vacancy.publish(directory, .absent) { (condition) async throws(ProviderError) in
            try await put("document", condition, client.address.key(directory))
        }
        return try sure(taken).isSuccess
    }

    private func isKept(_ byte: UInt8) async throws(ProviderError) -> Bool {
        let name = key + [byte] + Array("name".utf8)
        let answer = try await put("odd", .none, name)
        guard !answer.provesNothing else { throw client.error(answer, "\(client.address.place) cannot be tried") }
        return try await client.listAll(key).contains { $0.key == name && $0.size == 3 }
    }

    private func put(
        _ text: String, _ condition: S3Client.Condition, _ other: [UInt8]? = nil
    ) async throws(ProviderError) -> HTTPAnswer {
        try await client.put(other ?? key, .bytes(Array(text.utf8)), condition)
    }

    /// What stays is swept another day.
    private func clean() async {
        for object in (try? await client.listAll(key)) ?? [] { _ = try? await client.delete(object.key) }
    }
}
