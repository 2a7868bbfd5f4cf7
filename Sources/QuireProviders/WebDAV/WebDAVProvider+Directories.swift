import QuireCore

/// Deleting directories.
///
/// DELETE takes all below with it, also a document whose PUT began before anybody looked or locked, and ends just then. So
/// a directory that was found empty is moved aside at once, where nobody writes, and looked at there.
///
/// ```
///  LOCK ── empty ── MOVE aside ── UNLOCK ── empty ──────── DELETE
///                                        └─ not empty ── MOVE back
/// ```
extension WebDAVProvider {
    /// - Throws: `.notEmpty` where there is something in it, or came meanwhile; `.failed` where something that came could
    ///   not be put back, naming where it is.
    func deleteEmpty(_ path: RelativePath) async throws(ProviderError) {
        let aside = try await putAside(path)
        // Whatever becomes of the task: what was moved aside is seen by nobody until then.
        let ended = await Task { () async -> Result<Void, ProviderError> in
            do throws(ProviderError) { return .success(try await end(aside, of: path)) } catch {
                return .failure(error)
            }
        }.value
        try ended.get()
    }

    /// Moves a directory that is empty, and locked with all below it where the server has locks, to a name of its own.
    private func putAside(_ path: RelativePath) async throws(ProviderError) -> RelativePath {
        let lock = abilities.locks ? try await client.lockTree(path) : nil
        let result: Result<RelativePath?, ProviderError>
        do throws(ProviderError) {
            guard let found = try await client.list(path) else { throw ProviderError.notFound(path) }
            guard found.allSatisfy({ $0.path == path }) else { throw Self.notEmpty(path) }
            result = .success(try await putAside(path, lock))
        } catch {
            result = .failure(error)
        }
        await client.release(lock.map { [$0] } ?? [])
        if let aside = try result.get() { return aside }
        try await makeOwn(DAVLayout.kept)
        guard let aside = try await putAside(path, nil, isLast: true) else { throw ProviderError.notFound(path) }
        return aside
    }

    /// - Parameter isLast: whether a refusal is thrown.
    /// - Returns: nil where it is worth another try: where nothing was ever put aside, and at servers that want the new
    ///   name locked, too (Go's).
    private func putAside(
        _ path: RelativePath, _ lock: DAVLock?, isLast: Bool = false
    ) async throws(ProviderError) -> RelativePath? {
        let aside = DAVLayout.freshKept()
        let fields: HTTPFields =
            lock.map { ["If": "<\(client.address.url(path, isDirectory: true))> (<\($0.token)>)"] } ?? [:]
        var failure: ProviderError?
        do throws(ProviderError) {
            let answer = try await client.move(path, to: aside, isDirectory: true, overwrite: false, fields)
            if isLast || ![403, 404, 405, 409, 412, 500].contains(answer.status) {
                try checkDeleted(answer, path)
                return aside
            }
        } catch {
            // lighttpd refuses with 207 and a status in it.
            failure = isLast || error.code != .failed ? error : nil
        }
        // Done all the same, maybe.
        if await Task(operation: { (try? await client.list(aside)) ?? nil }).value != nil { return aside }
        if let failure { throw failure }
        return nil
    }

    /// Removes what was put aside if it is empty, or puts it back.
    private func end(_ aside: RelativePath, of path: RelativePath) async throws(ProviderError) {
        guard let found = try await lookAside(aside, path) else { return }
        let names = found.filter { $0.path != aside }
        guard !names.isEmpty else {
            // What seems empty may have documents in it whose names begin with a dot.
            if !abilities.hidesDotNames { await client.discard(aside, isDirectory: true) }
            return
        }
        let answer = try? await client.move(aside, to: path, isDirectory: true, overwrite: false)
        if answer?.isSuccess != true { try await putBack(names, aside, path) }
        throw Self.notEmpty(path)
    }

    /// Puts back one by one what came into a directory, where the directory was made again meanwhile.
    private func putBack(
        _ names: [(path: RelativePath, resource: DAVResource)], _ aside: RelativePath, _ path: RelativePath
    ) async throws(ProviderError) {
        _ = try? await client.makeCollection(path)
        for (entry, resource) in names {
            guard let name = entry.name else { continue }
            _ = try? await client.move(
                entry, to: path.appending(name), isDirectory: resource.isDirectory, overwrite: false)
        }
        if let left = try await lookAside(aside, path)?.first(where: { $0.path != aside }) {
            throw ProviderError(
                .failed,
                "\(path) was removed while another device wrote in it, and what it wrote could not be put back: it is "
                    + "at the server as \(left.path); move it from there")
        }
        await client.discard(aside, isDirectory: true)
    }

    /// What came into a directory that was put aside; nil where it is gone.
    private func lookAside(
        _ aside: RelativePath, _ path: RelativePath
    ) async throws(ProviderError) -> [(path: RelativePath, resource: DAVResource)]? {
        for attempt in 0..<4 {
            if attempt > 0 { try await HTTPFailure.pause(.milliseconds(50 << attempt)) }
            if let found = try? await client.list(aside) { return found }
        }
        do throws(ProviderError) {
            return try await client.list(aside)
        } catch {
            throw ProviderError(
                .failed,
                "\(path) was removed, but whether another device wrote in it at that moment cannot be seen: look into "
                    + "\(aside) at the server", cause: "\(error)")
        }
    }

    private static func notEmpty(_ path: RelativePath) -> ProviderError {
        ProviderError(.notEmpty, "\(path) cannot be removed: the directory is not empty")
    }
}
