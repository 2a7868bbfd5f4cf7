import QuireCore

/// What a server does with the versions of documents that it moves: tried in a directory of the probe's own.
struct DAVMoveProbe {
    let client: DAVClient
    /// Is made here.
    let root: RelativePath
    let abilities: DAVAbilities

    struct Finding: Sendable {
        /// How the version that a MOVE takes can be named.
        var condition = DAVAbilities.Condition.none
        /// What is moved keeps its version.
        var keepsVersions = false
    }

    /// Also finds out how a MOVE has to say where to (`DAVDestination`).
    ///
    /// - Returns: nothing but the defaults where MOVEs are refused.
    func run() async throws(ProviderError) -> Finding {
        var finding = Finding()
        _ = try await client.sure { () throws(ProviderError) in try await client.makeCollection(root) }
        guard try await movesAtAll(child("d"), to: child("d-moved")) else { return finding }
        let tries: [(DAVAbilities.Condition, (FileName, FileName, FileName))] = [
            (.stateList, ("a", "a-wrong", "a-right")), (.match, ("b", "b-wrong", "b-right")),
        ]
        for (condition, names) in tries where finding.condition == .none {
            if try await heeds(condition, child(names.0), child(names.1), child(names.2)) {
                finding.condition = condition
            }
        }
        let (path, destination) = (child("c"), child("c-moved"))
        guard try await put(path), let before = try await version(path) else { return finding }
        // A version that is made of the time is kept by a copy of the same second, too.
        if abilities.isTimeBased { try await client.clock.pause(DAVSecond.length) }
        guard try await moves(path, to: destination, [:]) else { return finding }
        finding.keepsVersions = try await version(destination) == before
        return finding
    }

    /// Whether a MOVE under the condition happens for the right tag, and for no other.
    private func heeds(
        _ condition: DAVAbilities.Condition, _ path: RelativePath, _ wrong: RelativePath, _ right: RelativePath
    ) async throws(ProviderError) -> Bool {
        var trial = abilities
        trial.moveCondition = condition
        let url = client.address.url(path)
        guard try await put(path),
            try await move(path, to: wrong, trial.unmoved("\"quire-no-such-tag\"", url))?.status == 412,
            let found = try await resource(path)
        else { return false }
        let fields = trial.unmoved(found.entityTag, url)
        guard !fields.list.isEmpty else { return false }
        return try await moves(path, to: right, fields)
    }

    /// Moves a document under no condition: as a MOVE said it so far, and where that may be refused for its Destination, in the
    /// other form.
    private func movesAtAll(_ path: RelativePath, to destination: RelativePath) async throws(ProviderError) -> Bool {
        guard try await put(path) else { return false }
        let form = client.destination.form
        guard var answer = try await attempt(path, to: destination, as: form) else { return false }
        // A server's way to refuse, or its mishap.
        if answer.status == 500, let second = try await attempt(path, to: destination, as: form) { answer = second }
        if answer.isSuccess {
            client.destination.found(form)
        } else if DAVDestination.mayRefuse(answer) {
            if try await attempt(path, to: destination, as: form.other)?.isSuccess == true {
                client.destination.found(form.other)
                return true
            }
            client.destination.foundNone()
        }
        let found = answer
        return try await client.sure { () in found }.isSuccess
    }

    private func attempt(
        _ path: RelativePath, to destination: RelativePath, as form: DAVDestination.Form
    ) async throws(ProviderError) -> HTTPAnswer? {
        try await unlessPartly { () throws(ProviderError) in
            try await client.move(path, to: destination, overwrite: false, as: form)
        }
    }

    private func child(_ name: FileName) -> RelativePath { root.appending(name) }

    private func put(_ path: RelativePath) async throws(ProviderError) -> Bool {
        try await client.sure { () throws(ProviderError) in try await client.put(path, .bytes(Array("moved".utf8))) }
            .isSuccess
    }

    private func moves(
        _ path: RelativePath, to destination: RelativePath, _ fields: HTTPFields
    ) async throws(ProviderError) -> Bool {
        try await move(path, to: destination, fields)?.isSuccess == true
    }

    private func move(
        _ path: RelativePath, to destination: RelativePath, _ fields: HTTPFields
    ) async throws(ProviderError) -> HTTPAnswer? {
        try await unlessPartly { () throws(ProviderError) in
            try await client.sure { () throws(ProviderError) in
                try await client.move(path, to: destination, overwrite: false, fields)
            }
        }
    }

    /// What a MOVE is answered; nil where the server answers that it did a part of it, as some refuse it.
    private func unlessPartly(
        _ move: () async throws(ProviderError) -> HTTPAnswer
    ) async throws(ProviderError) -> HTTPAnswer? {
        do throws(ProviderError) { return try await move() } catch {
            guard error.code == .failed else { throw error }
            return nil
        }
    }

    private func resource(_ path: RelativePath) async throws(ProviderError) -> DAVResource? {
        try await client.propfind(path, depth: "0")?.first { $0.path == path }?.resource
    }

    private func version(_ path: RelativePath) async throws(ProviderError) -> ProviderVersion? {
        try await resource(path)?.item(path, stamps: false).version
    }
}
