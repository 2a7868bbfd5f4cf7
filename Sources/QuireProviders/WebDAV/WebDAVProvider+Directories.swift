import QuireCore

/// Deleting directories.
///
/// DELETE takes all below with it, also a document whose PUT began before anybody looked or locked, and ends just then. So
/// a directory that was found empty is moved aside at once, where nobody writes, and looked at there. Nor do all servers
/// show all: golang.org/x/net/webdav (Caddy) leaves out what it may not open, and DELETE takes that, too. So what seems empty
/// is kept for a while (`DAVLayout.emptied`).
///
/// ```
///  LOCK ── empty ── MOVE aside ── UNLOCK ── empty ──────── MOVE to the day's ── (30 days) ── DELETE
///                                        └─ not empty ── MOVE back
/// ```
/// What does not come to its end is ended later: `settleRemovals`.
extension WebDAVProvider {
    /// What became of a directory that was moved aside.
    enum Ending {
        case removed
        /// Something had come into it, and it is where it was.
        case returned
        /// As that, but something else is where it was.
        case left
    }

    /// Deletes a directory if it is empty, to the end whatever becomes of the task.
    ///
    /// - Returns: where it is, if something came into it meanwhile and it could not go back as a whole; else nil.
    /// - Throws: `.notEmpty` where there is something in it, or came meanwhile.
    func deleteEmpty(_ path: RelativePath) async throws(ProviderError) -> RelativePath? {
        try await uncut { () throws(ProviderError) in
            let aside = DAVAside.fresh(of: path, longest: self.abilities.longestName)
            var isSent = false
            do throws(ProviderError) {
                try await self.putAside(path, as: aside, &isSent)
                let ending = try await self.end(aside, of: path)
                if ending != .returned { return ending == .left ? aside : nil }
            } catch {
                if isSent { self.removals.note(aside, of: path) }
                throw error
            }
            throw Self.notEmpty(path)
        }
    }

    /// Puts back one by one what came into a directory that was moved aside.
    ///
    /// - Throws: `.notEmpty`; `.failed` where something could not be put back, naming where it is.
    func returnAll(in aside: RelativePath, to path: RelativePath) async throws(ProviderError) {
        let left = try await uncut { () throws(ProviderError) -> RelativePath? in
            do throws(ProviderError) { return try await self.putBack(aside, to: path) } catch {
                self.removals.note(aside, of: path)
                throw error
            }
        }
        guard let left else { throw Self.notEmpty(path) }
        throw ProviderError(
            .failed,
            "\(path) was removed while another device wrote in it, and what it wrote could not be put back: it is at the "
                + "server as \(left); move it from there")
    }

    /// Moves a directory that is empty to a name of its own.
    ///
    /// - Parameter isSent: set once it may have been moved.
    private func putAside(
        _ path: RelativePath, as aside: RelativePath, _ isSent: inout Bool
    ) async throws(ProviderError) {
        let locks = abilities.locks
        var refusal = try await putAside(path, as: aside, isLocked: locks, &isSent)
        // Somebody has removed the place.
        if refusal != nil, try await makeOwn(DAVLayout.kept) {
            refusal = try await putAside(path, as: aside, isLocked: locks, &isSent)
        }
        // Go's servers want the new name locked, too.
        if refusal != nil, locks { refusal = try await putAside(path, as: aside, isLocked: false, &isSent) }
        if let refusal { throw refusal }
    }

    /// - Parameter isLocked: with all below, where the server can.
    /// - Returns: a refusal after which another try may be worth it.
    private func putAside(
        _ path: RelativePath, as aside: RelativePath, isLocked: Bool, _ isSent: inout Bool
    ) async throws(ProviderError) -> ProviderError? {
        let lock = isLocked ? try await client.lockTree(path) : nil
        let result: Result<ProviderError?, ProviderError>
        do throws(ProviderError) {
            guard let found = try await client.list(path) else { throw ProviderError.notFound(path) }
            guard found.allSatisfy({ $0.path == path }) else { throw Self.notEmpty(path) }
            isSent = true
            result = .success(try await move(path, aside: aside, lock))
        } catch {
            result = .failure(error)
        }
        await client.release(lock.map { [$0] } ?? [])
        return try result.get()
    }

    /// - Returns: as `putAside`.
    private func move(
        _ path: RelativePath, aside: RelativePath, _ lock: DAVLock?
    ) async throws(ProviderError) -> ProviderError? {
        let fields: HTTPFields =
            lock.map { ["If": "<\(client.address.url(path, isDirectory: true))> (<\($0.token)>)"] } ?? [:]
        let (refusal, isFinal): (ProviderError, Bool)
        do throws(ProviderError) {
            let answer = try await client.move(path, to: aside, isDirectory: true, overwrite: false, fields)
            if answer.isSuccess { return nil }
            refusal = client.transport.error(answer, "\(path) cannot be removed")
            isFinal = ![403, 404, 405, 409, 412, 500].contains(answer.status)
        } catch {
            // lighttpd refuses with 207 and a status in it.
            (refusal, isFinal) = (error, error.code != .failed)
        }
        // Done all the same, maybe.
        if try await client.list(aside) != nil { return nil }
        if isFinal { throw refusal }
        return refusal
    }

    /// Removes what was moved aside if it is empty, or puts it back.
    func end(_ aside: RelativePath, of path: RelativePath) async throws(ProviderError) -> Ending {
        guard let found = try await lookAside(aside, path) else { return .removed }
        guard found.contains(where: { $0.path != aside }) else {
            await putAway(aside, found)
            return .removed
        }
        let answer = try? await client.move(aside, to: path, isDirectory: true, overwrite: false)
        return answer?.isSuccess == true ? .returned : .left
    }

    /// Puts away a directory that seems empty. What cannot be put away now is looked at again by whoever connects next.
    ///
    /// - Parameter found: what the server showed of it.
    private func putAway(_ aside: RelativePath, _ found: [(path: RelativePath, resource: DAVResource)]) async {
        // It may have documents in it whose names begin with a dot.
        if abilities.hidesDotNames {
            _ = try? await client.move(aside, to: DAVAside.hidden(aside), isDirectory: true, overwrite: false)
            return
        }
        let day = DAVLayout.emptied(at: found.first { $0.path == aside }?.resource.told)
        for attempt in 0..<4 {
            if attempt > 0 { try? await Task.sleep(for: .milliseconds(50 << attempt)) }
            if removals.day != day {
                for path in [DAVLayout.emptied, day] {
                    _ = try? await client.makeCollection(path)
                }
                removals.day = day
            }
            let place = DAVAside.emptied(aside, in: day)
            let answer = try? await client.move(aside, to: place, isDirectory: true, overwrite: false)
            if let answer, answer.isSuccess || answer.status == 404 { return }
            removals.day = nil
            // A lock in it that was let go, and that the server has not forgotten.
            if answer?.status == 423 { try? await client.mend(aside, depth: "1") }
        }
    }

    /// Puts back one by one what came into a directory, where the directory was made again meanwhile, or has lost its own.
    ///
    /// - Returns: something that cannot go back, as its name is taken.
    /// - Throws: where the server is in trouble, or somebody has the name locked.
    func putBack(_ aside: RelativePath, to path: RelativePath) async throws(ProviderError) -> RelativePath? {
        guard let found = try await lookAside(aside, path) else { return nil }
        try await makeAll(path)
        var trouble: ProviderError?
        for (entry, resource) in found where entry != aside {
            guard let name = entry.name else { continue }
            do throws(ProviderError) {
                try await putBack(entry, resource.isDirectory, as: path.appending(name))
            } catch {
                trouble = error
            }
        }
        let rest = try await lookAside(aside, path) ?? []
        guard let left = rest.first(where: { $0.path != aside }) else {
            if !rest.isEmpty { await putAway(aside, rest) }
            return nil
        }
        if let trouble { throw trouble }
        return left.path
    }

    private func putBack(
        _ entry: RelativePath, _ isDirectory: Bool, as place: RelativePath
    ) async throws(ProviderError) {
        let answer = try await changing([place]) { (confirm) throws(ProviderError) in
            try await confirm()
            return try await self.client.move(entry, to: place, isDirectory: isDirectory, overwrite: false)
        }
        if answer.provesNothing || [423, 500].contains(answer.status) {
            throw client.transport.error(answer, "\(place) cannot be put back")
        }
    }

    /// Makes a directory and those that it lies in, where they are missing.
    private func makeAll(_ path: RelativePath) async throws(ProviderError) {
        if let parent = path.parent, !parent.isRoot { try await makeAll(parent) }
        _ = try await client.makeCollection(path)
    }

    /// What came into a directory that was moved aside; nil where it is gone.
    private func lookAside(
        _ aside: RelativePath, _ path: RelativePath
    ) async throws(ProviderError) -> [(path: RelativePath, resource: DAVResource)]? {
        for attempt in 0..<4 {
            if attempt > 0 { try await HTTPFailure.pause(.milliseconds(50 << attempt)) }
            guard let found = try? await client.list(aside) else { continue }
            return found
        }
        do throws(ProviderError) {
            return try await client.list(aside)
        } catch {
            throw ProviderError(
                error.code,
                "\(path) was removed, but whether another device wrote in it at that moment cannot be seen: \(aside) at "
                    + "the server is looked into again later", cause: "\(error)")
        }
    }

    /// Runs to its end whatever becomes of the task.
    private func uncut<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(ProviderError) -> Value
    ) async throws(ProviderError) -> Value {
        let ended = await Task { () async -> Result<Value, ProviderError> in
            do throws(ProviderError) { return .success(try await body()) } catch { return .failure(error) }
        }.value
        return try ended.get()
    }

    private static func notEmpty(_ path: RelativePath) -> ProviderError {
        ProviderError(.notEmpty, "\(path) cannot be removed: the directory is not empty")
    }
}
