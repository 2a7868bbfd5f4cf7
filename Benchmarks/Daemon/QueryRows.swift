import Glibc
import Logging
import QuireCore
import QuireIndex

/// What queries cost in an index of a million items.
enum QueryRows {
    static func measure() async throws -> [Row] {
        let before = resident()
        let start = ContinuousClock.now
        let tree = try await SyntheticTree(files: 1_000_000)
        let made = (ContinuousClock.now - start) / .seconds(1)
        defer { tree.remove() }
        var rows = [
            Row(name: "recording and committing 1,000,000 items", value: made, unit: "s", limit: .infinity),
            Row(name: "memory of the index with 1,000,000 items", value: resident() - before, unit: "MB", limit: 150),
        ]
        var number = 0
        func next() -> Int {
            number = (number + 618_033) % tree.count
            return number
        }
        rows.append(
            Row(
                name: "a name among 1,000,000, median",
                value: try await median(of: 2_000, tree) { "name == \"\(SyntheticTree.name(next()))\"" } / 1000,
                unit: "µs",
                limit: 100))
        rows.append(
            Row(
                name: "a part of a name, median",
                value: try await median(of: 20, tree) { "name == \"*oice draft \(next() / 10)*\"c" } / 1_000_000,
                unit: "ms",
                limit: 20))
        rows.append(
            Row(
                name: "a range of sizes with 1,000 results, median",
                value: try await median(of: 20, tree) {
                    let low = next() / 2
                    return "size >= \(low) && size < \(low + 1000)"
                } / 1_000_000, unit: "ms", limit: 10))
        rows.append(
            Row(
                name: "gathering 100,000 results",
                value: try await nanoseconds { try await gather(tree, "size < 100000") } / 1_000_000_000, unit: "s",
                limit: 1))
        rows.append(
            Row(
                name: "a change, tested against 1,000 running queries", value: try await running(tree), unit: "µs",
                limit: 1_000))
        tree.index.close()
        rows.append(
            Row(
                name: "index file, an item", value: Double(tree.bytes) / Double(tree.count), unit: "bytes", limit: 500))
        return rows
    }

    private static func median(of rounds: Int, _ tree: SyntheticTree, _ text: () -> String) async throws -> Double {
        var times: [Double] = []
        for _ in 0..<rounds {
            let text = text()
            times.append(
                try await tree.index.reading { try await nanoseconds { try await gather(tree, text) } })
        }
        return times.sorted()[rounds / 2]
    }

    /// As a client is answered: on the index's threads, the ids first, then the items by pages.
    private static func gather(_ tree: SyntheticTree, _ text: String) async throws {
        let query = ItemQuery(predicate: try QueryParser.parse(text))
        let ids = try await tree.index.search(query, first: 1000).ids
        for start in stride(from: 1000, to: ids.count, by: 1000) {
            _ = try await tree.index.items(ids[start..<min(start + 1000, ids.count)], matching: query)
        }
    }

    private static func nanoseconds(_ body: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await body()
        return (ContinuousClock.now - start) / .nanoseconds(1)
    }

    /// Microseconds a new item, until every query has looked at it.
    private static func running(_ tree: SyntheticTree) async throws -> Double {
        let live = LiveQueries(tree.index, transfers: { [:] }, logger: Logger(label: "bench"))
        var queries: [LiveQuery] = []
        for number in 0..<1_000 {
            let predicate = try QueryParser.parse("name == \"needle \(number)*\" && size > 100")
            queries.append(try await live.start(ItemQuery(predicate: predicate)).0)
        }
        let count = 2_000
        let time = try await nanoseconds {
            tree.addFiles(count)
            try await tree.index.settle()
            await live.settle()
        }
        for query in queries { live.stop(query) }
        await live.settle()
        return time / 1000 / Double(count)
    }

    /// Of this process, in MB.
    private static func resident() -> Double {
        var pages: [Int] = []
        if let file = fopen("/proc/self/statm", "r") {
            var line = [CChar](repeating: 0, count: 200)
            if fgets(&line, 200, file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                pages = text.split(separator: " ").compactMap { Int($0) }
            }
            fclose(file)
        }
        return pages.count > 1 ? Double(pages[1]) * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_000_000 : 0
    }
}
