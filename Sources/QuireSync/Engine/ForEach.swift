/// Runs `body` for each element, at most `limit` at a time, and returns what they returned, in no particular order.
func forEach<Element: Sendable, Value: Sendable>(
    _ elements: [Element], limit: Int, _ body: @escaping @Sendable (Element) async -> Value
) async -> [Value] {
    await withTaskGroup(of: Value.self) { group in
        var results: [Value] = []
        var next = elements.makeIterator()
        for _ in 0..<max(1, limit) {
            guard let element = next.next() else { break }
            group.addTask { await body(element) }
        }
        while let value = await group.next() {
            results.append(value)
            if let element = next.next() { group.addTask { await body(element) } }
        }
        return results
    }
}
