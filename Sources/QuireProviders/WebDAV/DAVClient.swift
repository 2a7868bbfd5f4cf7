import QuireCore

/// The methods of WebDAV, one request each. Paths are the account's; nothing is looked at before or after.
struct DAVClient: Sendable {
    let transport: HTTPTransport
    let address: DAVAddress
    /// Lock names that are known to be there.
    let lockNames = DAVLockNames()
    let destination = DAVDestination()
    let entityTags = DAVEntityTags()
    let early = DAVEarly()
    let fingerprint = DAVFingerprint()
    var lockRhythm = DAVLockRhythm()
    var clock = DAVClock()

    /// How long a small request may take.
    private static let patience = Duration.seconds(60)
    /// How long a server may be at work on a directory with all below.
    private static let treeTime = Duration.seconds(300)

    /// The resources that a PROPFIND tells, by path; nil where nothing is at `path`.
    ///
    /// - Parameters:
    ///   - depth: `0`, `1` or `infinity`.
    ///   - limit: most bytes of an answer.
    /// - Throws: `.failed` for what is no multistatus, an answer of more than `limit` bytes, or resources elsewhere.
    func propfind(
        _ path: RelativePath, depth: String, isDirectory: Bool = false, body: [UInt8] = DAVBodies.propfind,
        limit: Int = 256 << 20
    ) async throws(ProviderError) -> [(path: RelativePath, resource: DAVResource)]? {
        let request = HTTPRequest(
            "PROPFIND", address.target(path, isDirectory: isDirectory || path.isRoot),
            fields: ["Depth": depth, "Content-Type": "application/xml; charset=utf-8"], body: .bytes(body),
            timeLimit: depth == "0" ? Self.patience : nil)
        let (answer, multistatus) = try await receive(request, path, limit: limit, isListing: depth != "0")
        if [404, 410].contains(answer.status) { return nil }
        guard let multistatus else {
            if answer.isSuccess {
                throw ProviderError(
                    .failed, "\(path) cannot be read: the server answers PROPFIND as if it were no WebDAV")
            }
            throw error(answer, path, "read")
        }
        var found = try resources(multistatus, in: path)
        if let date = answer.date {
            for index in found.indices where found[index].path == path { found[index].resource.told = date }
        }
        return found
    }

    /// Between looks at what the server is still at work on: half a minute in all.
    private static let earlyPauses = [0.5, 1, 2, 4, 8, 14.5].map { Duration.seconds($0) }

    /// Sends a request that is answered by a multistatus; nil in place of one where the status is another. Where the server
    /// is still at work on something that was uploaded (425, as ownCloud Infinite Scale), it is asked again.
    ///
    /// - Parameter isListing: what it is at work on for longer than that is told (`DAVResource.isEarly`), and is not waited for again.
    /// - Throws: `.failed` for what is no multistatus, and an answer of more than `limit` bytes; `.unavailable` where the server
    ///   is at work for longer than that on what was asked for.
    func receive(
        _ request: HTTPRequest, _ path: RelativePath, limit: Int, isListing: Bool = false
    ) async throws(ProviderError) -> (answer: HTTPAnswer, multistatus: DAVMultistatus?) {
        var pauses = Self.earlyPauses[...]
        while true {
            let told = try await receiveOnce(request, path, limit: limit)
            guard let multistatus = told.multistatus else {
                guard told.answer.status == 425, let pause = pauses.popFirst() else { return told }
                try await clock.pause(pause)
                continue
            }
            let early = multistatus.early
            if early.isEmpty || isListing && !self.early.isWaitedFor(early) || pauses.isEmpty {
                if isListing { self.early.note(early, of: multistatus.resources) }
                guard let first = early.first, !isListing else { return told }
                throw ProviderError(
                    .unavailable,
                    "\(address.path(href: first.href) ?? path) cannot be read: the server is still at work on it",
                    cause: first.refusal)
            }
            if let pause = pauses.popFirst() { try await clock.pause(pause) }
        }
    }

    private func receiveOnce(
        _ request: HTTPRequest, _ path: RelativePath, limit: Int
    ) async throws(ProviderError) -> (answer: HTTPAnswer, multistatus: DAVMultistatus?) {
        let multistatus = DAVMultistatus()
        let reader = try XMLReader(multistatus)
        var size = 0
        let answer = try await transport.receive(request) { (piece) throws(ProviderError) in
            size += piece.count
            guard size <= limit else {
                throw ProviderError(.failed, "\(path): the server's listing is longer than \(limit) bytes")
            }
            try reader.read(piece.bytes)
            guard multistatus.resources.count <= DAVMultistatus.limit else { throw Self.tooLong(path) }
        }
        guard answer.status == 207 else { return (answer, nil) }
        try reader.finish()
        guard multistatus.isMultistatus, multistatus.resources.count <= DAVMultistatus.limit else {
            throw Self.tooLong(path)
        }
        return (answer, multistatus)
    }

    /// What a multistatus tells, by path.
    ///
    /// - Throws: `.failed` for resources that are not in `path`.
    func resources(
        _ multistatus: DAVMultistatus, in path: RelativePath
    ) throws(ProviderError) -> [(path: RelativePath, resource: DAVResource)] {
        let areTagsIgnored = entityTags.areIgnored
        return try multistatus.resources.map { (resource) throws(ProviderError) in
            var resource = resource
            if areTagsIgnored, !resource.isDirectory { resource.entityTag = nil }
            guard let found = address.path(href: resource.href), found.isInside(path) else {
                throw ProviderError(
                    .failed, "\(path): the server lists what is not in it: \(resource.href.prefix(200))")
            }
            if found.isRoot { fingerprint.note(resource) }
            return (found, resource)
        }
    }

    private static func tooLong(_ path: RelativePath) -> ProviderError {
        ProviderError(.failed, "\(path): the server's listing is none, or too long")
    }

    /// Sends content to `path`.
    func put(_ path: RelativePath, _ body: HTTPRequest.Body, _ fields: HTTPFields = [:]) async throws(ProviderError)
        -> HTTPAnswer
    {
        var request = HTTPRequest("PUT", address.target(path), fields: fields, body: body)
        request.fields["Content-Type"] = "application/octet-stream"
        return try await transport.send(request)
    }

    func head(_ path: RelativePath) async throws(ProviderError) -> HTTPAnswer {
        try await small("HEAD", path, false, [:])
    }

    /// DELETE, which takes all below with it.
    func delete(
        _ path: RelativePath, isDirectory: Bool = false, _ fields: HTTPFields = [:]
    ) async throws(ProviderError) -> HTTPAnswer {
        try await small("DELETE", path, isDirectory, fields, workTime: isDirectory ? Self.treeTime : .zero)
    }

    func makeCollection(_ path: RelativePath) async throws(ProviderError) -> HTTPAnswer {
        try await small("MKCOL", path, true, [:])
    }

    /// MOVE, with all below.
    ///
    /// - Parameters:
    ///   - size: of a document, which some servers copy.
    ///   - fields: further ones.
    ///   - form: how it says where to; nil for what the probe found.
    /// - Throws: `.failed` where a part of it may have been moved, or nothing (RFC 4918 §9.9.4); where no form is named, what the
    ///   probe found to be refused in either (`DAVDestination`).
    func move(
        _ path: RelativePath, to destination: RelativePath, isDirectory: Bool = false, overwrite: Bool,
        size: ByteCount = .zero, _ fields: HTTPFields = [:], as form: DAVDestination.Form? = nil
    ) async throws(ProviderError) -> HTTPAnswer {
        let place =
            switch form ?? self.destination.form {
            case .url: address.url(destination, isDirectory: isDirectory)
            case .path: address.target(destination, isDirectory: isDirectory)
            }
        var all: HTTPFields = ["Destination": place, "Overwrite": overwrite ? "T" : "F", "Depth": "infinity"]
        for (name, value) in fields.list { all[name] = value }
        let workTime = isDirectory ? Self.treeTime : RequestSilence.timeToWork(on: size)
        let answer = try await small("MOVE", path, isDirectory, all, workTime: workTime)
        let item = path.isInside(StoreLayout.control) ? destination : path
        if form == nil, let refusal = self.destination.refusal(answer, item, at: address) { throw refusal }
        guard answer.status == 207 else { return answer }
        let refused = try DAVMultistatus.read(answer).resources.first { $0.refusal != nil }
        throw ProviderError(
            .failed, "\(item) cannot be moved: the server could move a part of it only",
            cause: refused.flatMap { resource in resource.refusal.map { "\(resource.href.prefix(200)): \($0)" } })
    }

    /// Sets the stamp; whether the server says that it keeps it. A 500 may be its way to refuse, or its mishap: asked twice.
    ///
    /// - Throws: where it says nothing of that, but for a disk that is full.
    func stamp(_ path: RelativePath, isDirectory: Bool, _ stamp: DAVStamp) async throws(ProviderError) -> Bool {
        var answer = try await set(path, isDirectory, stamp)
        if answer.status == 500 { answer = try await set(path, isDirectory, stamp) }
        guard answer.status == 207 else {
            if answer.provesNothing, answer.status != 507 { throw error(answer, path, "given its attributes") }
            return false
        }
        let multistatus = try DAVMultistatus.read(answer)
        return !multistatus.refusals && !multistatus.resources.isEmpty
            && multistatus.resources.allSatisfy {
                $0.hasProperties || $0.status.map { (200..<300).contains($0) } ?? false
            }
    }

    private func set(
        _ path: RelativePath, _ isDirectory: Bool, _ stamp: DAVStamp
    ) async throws(ProviderError) -> HTTPAnswer {
        try await small(
            "PROPPATCH", path, isDirectory, ["Content-Type": "application/xml; charset=utf-8"],
            .bytes(DAVBodies.proppatch(stamp)))
    }

    /// Asks for content as it is, not packed on the way (RFC 9110 §12.5.3), and as the server has it now, and not as a cache before it had it (RFC 9111 §5.2.1.4): what the server
    /// says of it is asked for by a request of its own, which caches pass on.
    func request(
        contentOf path: RelativePath, _ range: Range<Int64>? = nil, timeLimit: Duration? = nil
    ) -> HTTPRequest {
        var fields = range.map(ContentRange.fields) ?? [:]
        fields["Cache-Control"] = "no-cache"
        fields["Accept-Encoding"] = "identity"
        return HTTPRequest("GET", address.target(path), fields: fields, timeLimit: timeLimit)
    }

    /// The content at `path`, of at most `limit` bytes; nil where there is none.
    func get(_ path: RelativePath, limit: Int) async throws(ProviderError) -> [UInt8]? {
        let request = request(contentOf: path, timeLimit: Self.patience)
        let answer = try await transport.send(request, limit: limit)
        if [404, 410].contains(answer.status) { return nil }
        guard answer.isSuccess else { throw transport.error(answer, "\(path) cannot be read") }
        return answer.body
    }

    /// Asks for an exclusive lock of a directory; the answer is for the caller to read, and the lock nil where it
    /// tells of none.
    ///
    /// Where no answer comes, or one without the token, the lock may have been granted all the same: whose it is, is
    /// remembered.
    /// - Parameter depth: `0`, or `infinity` for the directory and all below.
    func lock(
        _ path: RelativePath, depth: String = "0"
    ) async throws(ProviderError) -> (answer: HTTPAnswer, granted: DAVLock?) {
        let owner = DAVLock.freshOwner()
        let asked = ContinuousClock.now
        do throws(ProviderError) {
            let answer = try await small(
                "LOCK", path, true,
                [
                    "Timeout": "Second-\(DAVLock.seconds)", "Depth": depth,
                    "Content-Type": "application/xml; charset=utf-8",
                ], .bytes(DAVBodies.lock(owner: owner)))
            if answer.isSuccess, let token = DAVLockToken.read(answer) {
                return (answer, DAVLock(path: path, isDirectory: true, token: token, owner: owner, since: asked))
            }
            if answer.isSuccess || answer.status >= 500 { lockNames.lost(owner) }
            return (answer, nil)
        } catch {
            lockNames.lost(owner)
            throw error
        }
    }

    /// Makes a lock last from now on anew, also while the server wants no requests.
    ///
    /// - Parameter limit: how long an answer is waited for.
    func refresh(_ lock: DAVLock, within limit: Duration = patience) async throws(ProviderError) -> HTTPAnswer {
        var request = self.request(
            "LOCK", lock.path, lock.isDirectory,
            ["Timeout": "Second-\(DAVLock.seconds)", "If": "(<\(lock.token)>)"])
        (request.timeLimit, request.heedsPause) = (limit, false)
        return try await transport.send(request)
    }

    /// Lets a lock go, also while the server wants no requests: others wait for it.
    func unlock(_ lock: DAVLock) async throws(ProviderError) -> HTTPAnswer {
        var request = self.request("UNLOCK", lock.path, lock.isDirectory, ["Lock-Token": "<\(lock.token)>"])
        request.heedsPause = false
        return try await transport.send(request)
    }

    /// An answer that is no success, as an error about an item.
    ///
    /// - Parameter action: what was tried, as in "cannot be written".
    func error(_ answer: HTTPAnswer, _ path: RelativePath, _ action: String) -> ProviderError {
        if answer.status == 400, path.bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            return ProviderError(
                .invalidName, "\(path) cannot be \(action): the server takes no control characters in names; rename it")
        }
        return transport.error(answer, "\(path) cannot be \(action)")
    }

    private func small(
        _ method: String, _ path: RelativePath, _ isDirectory: Bool, _ fields: HTTPFields,
        _ body: HTTPRequest.Body = .none, workTime: Duration = .zero
    ) async throws(ProviderError) -> HTTPAnswer {
        var request = request(method, path, isDirectory, fields, body)
        (request.timeLimit, request.workTime) = (Self.patience + workTime, workTime)
        return try await transport.send(request)
    }

    private func request(
        _ method: String, _ path: RelativePath, _ isDirectory: Bool, _ fields: HTTPFields,
        _ body: HTTPRequest.Body = .none
    ) -> HTTPRequest {
        HTTPRequest(
            method, address.target(path, isDirectory: isDirectory), fields: fields, body: body,
            timeLimit: Self.patience)
    }
}
