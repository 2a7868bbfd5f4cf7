import Glibc

do {
    try run(Options(Array(CommandLine.arguments.dropFirst())))
} catch {
    say("quire-bench: \(error)", to: 2)
    exit(1)
}

/// Measures in every place that was asked for, prints the tables and, where asked, fails for a missed target.
func run(_ options: Options) throws {
    setenv("LC_ALL", "C", 1)
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1)
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1)
    Watchdog.start()
    var tables: [String] = []
    var missed: [String] = []
    for place in options.places {
        try FreshDirectory.with(in: place) { root, title in
            let report =
                options.isScale
                ? try scale(options, root, missed: &missed) : try compare(options, root, missed: &missed)
            let table = "### On \(title)\n\n\(report)"
            say("\n\(table)")
            tables.append(table)
        }
    }
    if let path = options.markdown { try write(tables.joined(separator: "\n"), to: path) }
    guard options.isCheck, !missed.isEmpty else { return }
    throw BenchmarkError("missed: \(missed.joined(separator: ", "))")
}

/// The subjects side by side.
func compare(_ options: Options, _ root: String, missed: inout [String]) throws -> String {
    let bench = try Bench(options, root: root)
    defer { bench.stop() }
    let rows = Row.all.filter { options.only.isEmpty || options.only.contains($0.key) }
    let report =
        options.isTrips ? try count(rows, bench, options.sizes) : measure(rows, bench, options, missed: &missed)
    var remarks = bench.notes
    if !bench.late.isEmpty {
        let keys = bench.late.sorted().joined(separator: ", ")
        remarks.append("uploads went on beside other measurements after: \(keys)")
    }
    let notes = remarks.map { "- \($0)\n" }.joined()
    return report + (notes.isEmpty ? "" : "\n\(notes)")
}

/// The drive at its limits.
func scale(_ options: Options, _ root: String, missed: inout [String]) throws -> String {
    var scale = try Scale(options, root: root)
    let (markdown, late) = try scale.run()
    missed += late
    return markdown
}

/// Times every row.
func measure(_ rows: [Row], _ bench: Bench, _ options: Options, missed: inout [String]) -> String {
    var results = Results(sizes: options.sizes)
    for row in rows {
        for round in 1...(options.rounds ?? (options.isQuick ? 1 : row.rounds)) {
            for subject in bench.subjects where Bench.has(row, subject.kind) {
                let seconds = bench.run(row, on: subject, round: round) { body in
                    guard let observer = options.observer else { return try body() }
                    return try observer.watching(subject.server, row: row.key, body)
                }
                if let seconds { results.add(row, subject.kind, seconds: seconds) }
            }
        }
        let times = bench.subjects.compactMap { subject in
            results.best(row, subject.kind).map { "\(subject.kind.rawValue) \(Number.decimals($0 * 1000, 1)) ms" }
        }
        say("\(row.key): \(times.joined(separator: ", "))")
    }
    let table = ResultTable(results: results, kinds: bench.subjects.map(\.kind))
    missed += table.missed(rows)
    return table.markdown(rows)
}

/// Counts the requests of every row, once.
func count(_ rows: [Row], _ bench: Bench, _ sizes: Sizes) throws -> String {
    let requests = try Requests()
    let subjects = bench.subjects.filter { $0.connection != nil }
    var table = TripTable(subjects: subjects.map(\.kind), sizes: sizes)
    for row in rows {
        for subject in subjects where Bench.has(row, subject.kind) {
            let counts = bench.run(row, on: subject, round: 1) { body in
                guard let connection = subject.connection else { throw BenchmarkError("no connection") }
                return try requests.counting(connection) { _ = try body() }
            }
            if let counts { table.add(row, subject.kind, counts) }
        }
        say(row.key)
    }
    return table.markdown(rows)
}

func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw BenchmarkError("open", path) }
    fputs(text, file)
    fclose(file)
}

/// Writes a line at once: progress is of use while it runs.
func say(_ text: String, to descriptor: Int32 = 1) {
    let bytes = Array("\(text)\n".utf8)
    if Glibc.write(descriptor, bytes, bytes.count) != bytes.count { exit(1) }
}
