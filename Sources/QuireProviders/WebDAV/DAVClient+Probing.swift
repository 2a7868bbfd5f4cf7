import QuireCore

extension DAVClient {
    /// An answer that is about what was asked. A 500 may be a server's way to refuse, or its mishap: asked twice.
    ///
    /// - Throws: where the answer proves nothing (`HTTPAnswer.provesNothing`).
    func sure(_ ask: () async throws(ProviderError) -> HTTPAnswer) async throws(ProviderError) -> HTTPAnswer {
        var answer = try await ask()
        if answer.status == 500 { answer = try await ask() }
        guard !answer.provesNothing else { throw transport.error(answer, "the account cannot be tried") }
        return answer
    }
}
