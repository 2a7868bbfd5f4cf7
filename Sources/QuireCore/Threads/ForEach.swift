/// Runs `body` for each element, at most `limit` at a time, and returns what they returned, in no particular order.
///
/// - Throws: what the first of them throws that fails; the others are cancelled then.
package func forEach<Element: Sendable, Value: Sendable, Failure: Error>(
    _ elements: some Sequence<Element>, limit: Int,
    _ body: @escaping @Sendable (Element) async throws(Failure) -> Value
) async throws(Failure) -> [Value] {
    try await forEach(elements, limit: { limit }, body)
}

/// The same with a limit that changes: it is asked after each end; the one before stays where it is smaller than what runs.
package func forEach<Element: Sendable, Value: Sendable, Failure: Error>(
    _ elements: some Sequence<Element>, limit: () -> Int,
    _ body: @escaping @Sendable (Element) async throws(Failure) -> Value
) async throws(Failure) -> [Value] {
    let run: @Sendable (Element) async -> Result<Value, Failure> = { element in
        do throws(Failure) { return .success(try await body(element)) } catch { return .failure(error) }
    }
    let outcome = await withTaskGroup(of: Result<Value, Failure>.self) { group -> Result<[Value], Failure> in
        var results: [Value] = []
        var next = elements.makeIterator()
        var running = 0
        func start() {
            while running < max(1, limit()), let element = next.next() {
                group.addTask { await run(element) }
                running += 1
            }
        }
        start()
        while let result = await group.next() {
            running -= 1
            switch result {
            case .success(let value): results.append(value)
            case .failure(let error):
                group.cancelAll()
                return .failure(error)
            }
            start()
        }
        return .success(results)
    }
    return try outcome.get()
}
