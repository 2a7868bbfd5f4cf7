import QuireCore

/// Change records as files of a WebDAV account.
struct DAVChangeRecords: ChangeRecordStore {
    let client: DAVClient
    let abilities: DAVAbilities

    var keepsFirst: Bool { abilities.locks }

    func read(_ number: Int) async throws(ProviderError) -> [UInt8]? {
        try await client.get(StoreLayout.change(number), limit: ChangeRecord.limit)
    }

    /// Sent to a name of its own first: who reads sees it whole. Moved under a lock where there are such: some servers check
    /// `Overwrite: F` and move in two steps.
    func create(_ number: Int, _ bytes: [UInt8]) async throws(ProviderError) -> Bool {
        let path = StoreLayout.change(number)
        let staged = StoreLayout.staging()
        do throws(ProviderError) {
            let answer = try await client.put(staged, .bytes(bytes))
            guard answer.isSuccess else {
                throw client.transport.error(answer, "the record of what changed cannot be written")
            }
            let isMade =
                if abilities.locks {
                    try await client.withLocks(on: [StoreLayout.changes]) { (confirm) throws(ProviderError) in
                        if try await client.get(path, limit: ChangeRecord.limit) != nil { return false }
                        try await confirm()
                        return try await move(staged, to: path)
                    }
                } else {
                    try await move(staged, to: path)
                }
            if !isMade { await client.discard(staged) }
            return isMade
        } catch {
            await client.discard(staged)
            throw error
        }
    }

    private func move(_ staged: RelativePath, to path: RelativePath) async throws(ProviderError) -> Bool {
        let answer = try await client.move(staged, to: path, overwrite: false)
        if answer.status == 412 { return false }
        guard answer.isSuccess else {
            throw client.transport.error(answer, "the record of what changed cannot be written")
        }
        return true
    }

    func numbers() async throws(ProviderError) -> [Int] {
        let found = try await client.list(StoreLayout.changes) ?? []
        return found.compactMap { $0.path.name.flatMap(StoreLayout.changeNumber) }
    }

    func remove(_ number: Int) async throws(ProviderError) {
        let answer = try await client.delete(StoreLayout.change(number))
        guard answer.isSuccess || [404, 410].contains(answer.status) else {
            throw client.transport.error(answer, "an old record of what changed cannot be removed")
        }
    }
}
