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
    /// Where it does not: a document is removed by putting a vacancy in its place (`S3Vacancy`), under a condition.
    package var removesByVacancy = false
    /// A copy heeds conditions on what it replaces and on what it copies.
    package var copiesChecked = false
    /// The bucket keeps what was replaced.
    package var keepsVersions = false
    /// Bytes that a key cannot have, or that listings do not have as they are: SeaweedFS takes a backslash for a slash, and
    /// the document would lie elsewhere.
    package var refusedBytes: Set<UInt8> = []
    /// A directory whose last key is gone is in the way of others: see `S3Vacancy`.
    package var keepsDirectories = false
    /// `If-None-Match: *` keeps a document also from the place of a directory that others' keys are below.
    package var guardsDirectories = false
    /// Which keys are one object.
    package var folding: NameFolding = []

    /// As the engine sees it.
    package var capabilities: ProviderCapabilities {
        ProviderCapabilities(
            conditionalWrites: createsOnce && replacesChecked && (deletesChecked || removesByVacancy)
                ? .atomic : .detected,
            stableIdentifiers: false, directoryMoves: false, symlinks: false, attributes: false, arbitraryNames: false,
            resumableUploads: copiesChecked, earlierVersions: keepsVersions, folding: folding)
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
    private static let risky = ["\\", "\n"]
    /// What a listing shows otherwise where its encoding is misunderstood.
    private static let encoded = [" ", "+", "%41"]
    /// What XML cannot hold, or not as it is. A line break is tried.
    private static let unheard = Set<UInt8>(0x01...0x1F).subtracting([0x09, 0x0A])

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
        abilities.createsOnce = try client.refuses(try await put("two", .absent))
        let wrong = S3EntityTag.nobodys
        if abilities.createsOnce, try client.refuses(try await put("two", .version(wrong))) {
            if try client.sure(try await put("two", .version("\"\(tag)\""))).isSuccess {
                abilities.replacesChecked = true
            } else if try client.sure(try await put("two", .version(tag))).isSuccess {
                abilities.replacesChecked = true
                abilities.wantsQuotes = false
            }
        }
        let copied = try await client.copy(key, unchanged: wrong, to: copyKey, .none, size: .zero).answer
        if try client.refuses(copied, orFails: true), try client.sure(try await put("there", .none, copyKey)).isSuccess
        {
            let second = try await client.copy(key, unchanged: nil, to: copyKey, .absent, size: .zero).answer
            abilities.copiesChecked = try client.refuses(second, orFails: true)
        }
        let kept = try await client.delete(key, .version(abilities.tag(ProviderVersion(S3EntityTag.plain(wrong)))))
        if try client.refuses(kept) { abilities.deletesChecked = try client.sure(try await client.head(key)).isSuccess }
        abilities.keepsVersions = try await client.keepsVersions()
        if abilities.createsOnce, abilities.replacesChecked {
            try await tryDirectories(&abilities)
            if !abilities.deletesChecked, !abilities.keepsDirectories {
                abilities.removesByVacancy = try await canVacate(abilities)
            }
        }
        abilities.refusedBytes = try await refusedBytes()
        abilities.folding = try await folding()
        return abilities
    }

    /// - Throws: `.failed` for a store that encodes keys in listings and does not say so: each might be one or the other.
    private func refusedBytes() async throws(ProviderError) -> Set<UInt8> {
        var refused: Set<UInt8> = []
        var trials = Self.risky
        let together = Self.encoded.joined()
        let (isKept, page) = try await list(with: together)
        if !isKept {
            let misread = name(together)
            guard !page.objects.contains(where: { S3PageReader.decoded($0.key) == misread }) else {
                throw ProviderError(
                    .failed,
                    "\(client.address.place): the store encodes names in its listings without saying so (EncodingType)")
            }
            trials += Self.encoded
        }
        for text in trials where try await !list(with: text).isKept {
            if let byte = text.utf8.first { refused.insert(byte) }
        }
        return page.isEncoded ? refused : refused.union(Self.unheard)
    }

    private func folding() async throws(ProviderError) -> NameFolding {
        var found: NameFolding = []
        guard let name = path.name, let parent = path.parent else { return found }
        for trial in FoldingTrial.all {
            let written = client.address.key(parent.appending(trial.written(name)))
            let other = client.address.key(parent.appending(trial.other(name)))
            _ = try client.sure(try await put("folding", .none, written))
            if try client.sure(try await client.head(other)).isSuccess { found.insert(trial.folding) }
        }
        return found
    }

    /// Whether a directory stays after its last key, and its place can be taken as `S3Vacancy` does; and whether it can be
    /// taken before.
    private func tryDirectories(_ abilities: inout S3Abilities) async throws(ProviderError) {
        guard let name = path.name, let parent = path.parent,
            let directory = FileName(name.bytes + Array("-directory".utf8)).map(parent.appending)
        else { return }
        let key = client.address.key(directory)
        let inside = client.address.directoryKey(directory) + Array("inside".utf8)
        _ = try client.sure(try await put("inside", .none, inside))
        let guards = try client.refuses(try await put("document", .absent, key))
        if !guards { _ = try client.sure(try await client.delete(key)) }
        _ = try client.sure(try await client.delete(inside))
        var assumed = abilities
        assumed.keepsDirectories = true
        let vacancy = S3Vacancy(client: client, abilities: assumed)
        guard try await vacancy.isDirectoryWithContent(directory) else { return }
        let taken = try await vacancy.publish(directory, .absent) { (condition) async throws(ProviderError) in
            try await put("document", condition, key)
        }
        abilities.keepsDirectories = try client.sure(taken).isSuccess
        abilities.guardsDirectories = guards && abilities.keepsDirectories
    }

    /// Whether a document can become a vacancy that is known as one, and a document again.
    private func canVacate(_ abilities: S3Abilities) async throws(ProviderError) -> Bool {
        var abilities = abilities
        abilities.removesByVacancy = true
        let vacancy = S3Vacancy(client: client, abilities: abilities)
        guard let name = path.name, let parent = path.parent,
            let document = FileName(name.bytes + Array("-document".utf8)).map(parent.appending)
        else { return false }
        let documentKey = client.address.key(document)
        let put = try client.sure(try await put("removed", .absent, documentKey))
        guard put.isSuccess, let tag = put.fields["ETag"].map({ S3EntityTag.plain($0) }) else { return false }
        guard try client.sure(try await vacancy.vacate(document, ProviderVersion(tag))).isSuccess else { return false }
        guard try client.refuses(try await vacancy.vacate(document, ProviderVersion(tag))) else { return false }
        guard let listed = try await client.listAll(documentKey).first(where: { $0.key == documentKey }),
            S3Sign(listed) == .vacancy
        else { return false }
        let taken = try await vacancy.publish(document, .absent) { (condition) async throws(ProviderError) in
            try await self.put("again", condition, documentKey)
        }
        return try client.sure(taken).isSuccess
    }

    /// A key with an odd text in it.
    private func name(_ odd: String) -> [UInt8] { key + Array("\(odd)name".utf8) }

    /// Writes an object with such a key, and looks whether the listing has it.
    private func list(with odd: String) async throws(ProviderError) -> (isKept: Bool, page: S3Page) {
        let name = self.name(odd)
        let answer = try await put("odd", .none, name)
        guard !answer.provesNothing else { throw client.error(answer, "\(client.address.place) cannot be tried") }
        let page = try await client.list(key)
        return (page.objects.contains { $0.key == name && $0.size == 3 }, page)
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
