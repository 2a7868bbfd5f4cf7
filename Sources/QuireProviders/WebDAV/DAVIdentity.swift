import QuireCore

/// The mark that says which store an account is: the same text as a folder's.
enum DAVIdentity {
    /// Reads the mark; nil where there is none.
    static func read(_ client: DAVClient) async throws(ProviderError) -> StoreMark? {
        guard let bytes = try await client.get(StoreLayout.mark, limit: StoreMark.longestAnswer) else { return nil }
        return try StoreMark(bytes, at: client.address.place, isAnswer: true)
    }

    /// Writes a new mark unless another device was first, and returns the one that is there then.
    static func create(
        _ client: DAVClient, _ abilities: DAVAbilities
    ) async throws(ProviderError) -> StoreMark? {
        guard abilities.locks else {
            try await write(client)
            return try await read(client)
        }
        return try await client.withLocks(on: [StoreLayout.mark]) { (confirm) throws(ProviderError) in
            if let found = try await read(client) { return found }
            try await confirm()
            try await write(client)
            return try await read(client)
        }
    }

    /// By a name of its own first: whoever reads sees it whole, and where it has come meanwhile it stays.
    private static func write(_ client: DAVClient) async throws(ProviderError) {
        let staged = StoreLayout.staging()
        let answer = try await client.put(staged, .bytes(StoreMark.fresh().bytes))
        guard answer.isSuccess else { throw client.transport.error(answer, "the account cannot be written to") }
        let moved: HTTPAnswer
        do throws(ProviderError) {
            moved = try await client.move(staged, to: StoreLayout.mark, overwrite: false)
        } catch {
            await client.discard(staged)
            throw error
        }
        guard moved.isSuccess else {
            await client.discard(staged)
            if moved.status == 412 { return }
            throw client.transport.error(moved, "the account cannot be set up")
        }
    }
}
