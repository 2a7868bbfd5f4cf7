import Foundation
import Testing

extension EndToEnd {
    /// Three devices at one account, each with a way to the server of its own that may fail, and a ledger of what was written.
    @Suite("Three devices at a server", .timeLimit(.minutes(15)))
    struct AccountConvergenceTests {
        static var servers: [String] { ["apache", "seaweedfs"].filter { StorageServers.started[$0] != nil } }

        /// `QUIRE_CONVERGENCE_OPERATIONS` and `QUIRE_SEED` choose longer runs and repeat one.
        @Test(
            "Whatever three devices do, offline, killed, in bad weather: all end equal, and no fsynced text is lost",
            arguments: servers)
        func convergence(server: String) async throws {
            let operations = Machine.setting("QUIRE_CONVERGENCE_OPERATIONS", standard: 10_000)
            try await withCrew(server) { crew in
                let begun = Date()
                try await crew.work(operations: operations)
                let worked = Date().timeIntervalSince(begun)
                try await crew.settle()
                try await crew.expectSameTrees()
                let found = try await crew.ledger()
                // What only the devices' kept versions have was lost at the server.
                let kept = try await crew.ledger(countsVersions: false)
                let atServer = kept.split(separator: "\n").first ?? ""
                print(
                    "\(server): QUIRE_SEED=\(crew.seed), \(crew.done) of \(operations) operations, "
                        + "\(found) (without kept versions: \(atServer)), \(crew.troubles), "
                        + "\(crew.ended) waited for in vain, worked \(Int(worked)) s, "
                        + "in all \(Int(Date().timeIntervalSince(begun))) s")
                if kept != found { print(kept, try crew.requests(about: kept), separator: "\n") }
                guard found.contains(" lost 0 unreadable 0") else {
                    throw Trouble("\(found)\n\(try crew.requests(about: found))")
                }
                // That nothing was lost says little where little was done, or little of it could be lost.
                #expect(crew.done >= operations)
                let book = try Crew.Book(found)
                #expect(book.promised >= operations / 50, "\(found)")
                #expect(book.written >= operations / 5 && book.elsewhere >= operations / 500, "\(found)")
                #expect(crew.ended * 4 <= crew.done, "patience ended in \(crew.ended) operations")
            }
        }

        @Test(
            "No edit of the same documents on three devices is lost; where the server checks nothing, some are",
            arguments: servers, [true, false])
        func control(server: String, conditions: Bool) async throws {
            try await withCrew(server) { crew in
                let documents = "^(?!.*/[.]quire)"
                let together = Weather.Rule(fault: "meet", methods: ["PUT"], path: documents, seconds: 1)
                let blind: [Weather.Rule] = [.init(fault: "private-locks"), .init(fault: "strip", path: documents)]
                for _ in 0..<3 {
                    for front in crew.fronts { try front.set((conditions ? [] : blind) + [together]) }
                    try await crew.editApart(count: 8)
                    await crew.sync()
                    try await crew.settle()
                }
                // Devices keep as versions what a server loses of what they have just sent.
                let found = try await crew.ledger(countsVersions: conditions)
                print("\(server) \(conditions ? "with" : "without") conditions: QUIRE_SEED=\(crew.seed), \(found)")
                #expect(found.contains(" lost 0 ") == conditions, "\(found)")
                // Each device wrote some in each round.
                #expect(try Crew.Book(found).written >= 9, "\(found)")
            }
        }

        private func withCrew(
            _ server: String, _ body: @escaping (Crew) async throws -> Void
        ) async throws {
            let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))
            let account = try await StorageServers.account(server)
            try await Workspace.use { workspace in
                let crew = Crew(seed: seed, account: account, workspace: workspace)
                let weather = try Weather(seed: seed, log: crew.log)
                for name in ["one", "two", "three"] {
                    let front = try weather.front(name, to: account.authority)
                    let drive = try await workspace.drive(at: account.through(port: front.port), name)
                    try drive.configure("device_name", "\"\(name)\"")
                    try drive.configure("poll_seconds", "1")
                    try await drive.mount()
                    crew.drives.append(drive)
                    crew.fronts.append(front)
                }
                do { try await body(crew) } catch { throw Trouble("QUIRE_SEED=\(seed): \(error)") }
            }
        }
    }
}

/// The devices of one run. Used by one task at a time.
private final class Crew: @unchecked Sendable {
    let seed: Int
    let account: StorageServers.Account
    let workspace: Workspace
    var drives: [Drive] = []
    var fronts: [Weather.Front] = []
    private var reader: Drive?
    /// Operations that did something.
    var done = 0
    /// Those that were waited for in vain, as without a way to the server.
    var ended = 0
    private var rounds = 0
    /// How often what went wrong.
    var troubles: [String: Int] = [:]

    /// How much the ledger says, whatever was lost.
    struct Book {
        var written: Int
        /// By devices that had read it, and had not written it.
        var elsewhere: Int
        var promised: Int

        init(_ found: String) throws {
            guard let words = found.firstMatch(of: /^written (\d+) replaced \d+ elsewhere (\d+) promised (\d+) lost/),
                let written = Int(words.1), let elsewhere = Int(words.2), let promised = Int(words.3)
            else { throw Trouble("no ledger: \(found)") }
            (self.written, self.elsewhere, self.promised) = (written, elsewhere, promised)
        }
    }

    init(seed: Int, account: StorageServers.Account, workspace: Workspace) {
        self.seed = seed
        self.account = account
        self.workspace = workspace
    }

    /// What came by on the ways to the server.
    var log: String { "\(workspace.root)/weather.log" }

    private func book(_ drive: Drive) -> String { "\(workspace.root)/\(drive.name).book" }

    /// So many operations at least, in rounds; in each the devices work at the same time, and trouble comes over some.
    func work(operations: Int) async throws {
        let ofRound = 100
        let most = 2 * (operations / (ofRound * drives.count) + 1)
        // Some end early, with their daemon.
        while done < operations, rounds < most {
            rounds += 1
            let round = rounds
            let ends = try await withThrowingTaskGroup(of: (done: Int, ended: Int).self) { group in
                for device in drives.indices {
                    group.addTask { [self] in
                        var random = SeededRandom(seed: UInt64(seed * 1000 + round * 10 + device))
                        async let done = operate("work", device, round, ofRound)
                        try await trouble(device, &random)
                        return try await done
                    }
                }
                return try await group.reduce((0, 0)) { ($0.0 + $1.done, $0.1 + $1.ended) }
            }
            done += ends.0
            ended += ends.1
            var random = SeededRandom(seed: UInt64(seed * 1000 + round * 10 + 9))
            for device in drives.indices { try await mend(device, &random) }
        }
    }

    /// Edits of the same few documents, after which what all have written waits for its upload.
    ///
    /// - Parameter count: a device's edits.
    func editApart(count: Int) async throws {
        rounds += 1
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (device, drive) in drives.enumerated() {
                group.addTask { [self] in
                    // What is to be edited is here.
                    try await drive.sh("find . -type f -exec cat {} +")
                    try await drive.quire("pause").require(0)
                    _ = try await operate("edit", device, rounds, count)
                }
            }
            try await group.waitForAll()
        }
        for drive in drives { try await drive.quire("resume").require(0) }
    }

    private func operate(
        _ verb: String, _ device: Int, _ round: Int, _ count: Int
    ) async throws -> (done: Int, ended: Int) {
        let drive = drives[device]
        let arguments = [
            verb, drive.mountpoint, book(drive), drive.name, "\(seed * 1000 + round)", "\(count)",
        ]
        let text = try await drive.python("ledger.py", arguments, limitSeconds: 120).succeed()
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard numbers.count == 2 else { throw Trouble("ledger.py says \(text)") }
        return (numbers[0], numbers[1])
    }

    /// Nothing, a way that is cut, bad weather, or the end of the daemon, for the rest of the round.
    private func trouble(_ device: Int, _ random: inout SeededRandom) async throws {
        let kind = Int.random(in: 0..<10, using: &random)
        let moment = Double.random(in: 0...0.8, using: &random)
        try await Task.sleep(for: .seconds(moment))
        switch kind {
        case 0, 1:
            try fronts[device].down()
            count("offline")
        case 2, 3, 4:
            try fronts[device].set(WeatherRules.mixed)
            count("bad weather")
        case 5:
            try drives[device].crash()
            count("killed")
        default: break
        }
    }

    private let lock = NSLock()
    private func count(_ trouble: String, _ times: Int = 1) {
        lock.withLock { troubles[trouble, default: 0] += times }
    }

    /// Good weather again, at one time in two, and a daemon that runs.
    private func mend(_ device: Int, _ random: inout SeededRandom) async throws {
        if Bool.random(using: &random) {
            try fronts[device].clear()
            try fronts[device].up()
        }
        let drive = drives[device]
        if await Command(arguments: ["stat", "-f", drive.mountpoint], limitSeconds: 10).run().status != 0 {
            try await drive.remount()
        }
    }

    /// Good weather for all, until nothing waits and, in a while, all have the same names.
    func settle() async throws {
        for device in drives.indices {
            try fronts[device].clear()
            try fronts[device].up()
            // Nothing is moved meanwhile.
            try await drives[device].quire("pause").require(0)
            try await drives[device].sh("find . -name '.goutputstream-*' -delete")
            try await drives[device].quire("resume").require(0)
        }
        for _ in 0..<12 {
            await sync()
            var isDone = true
            for drive in drives where try await removeHeld(drive) { isDone = false }
            var trees: Set<String> = []
            for drive in drives { trees.insert(try await names(drive)) }
            if isDone, trees.count == 1 { break }
        }
        for drive in drives {
            let status = try await drive.json("status")
            let waiting = try status("pending")("upload").int + status("pending")("delete").int
            let errors = try status("errors").array.map { try $0("message").string }
            guard waiting == 0, errors.isEmpty else { throw Trouble("\(drive.name) is not done: \(status)") }
        }
    }

    /// Waits until nothing waits, or what does is told.
    func sync() async {
        for drive in drives { _ = await drive.quire("sync", "--timeout", "100", limitSeconds: 120) }
    }

    /// Does what `quire status` asks for where another device removed a document while it was renamed here without its
    /// content. Whether anything that was promised is lost by that, the ledger tells.
    ///
    /// - Returns: whether there was such a document.
    private func removeHeld(_ drive: Drive) async throws -> Bool {
        guard try await !held(drive).isEmpty else { return false }
        // What comes to its place meanwhile is another document.
        try await drive.quire("pause").require(0)
        let held = try await held(drive)
        if !held.isEmpty {
            print("\(drive.name): removes what is nowhere: \(held)")
            try await Command(
                arguments: ["rm", "-f", "--"] + held.map { "\(drive.mountpoint)/\($0)" }, limitSeconds: 20,
                abortingMountsAt: [drive.mountpoint]
            ).succeed()
            count("removed as asked", held.count)
        }
        try await drive.quire("resume").require(0)
        return true
    }

    private func held(_ drive: Drive) async throws -> [String] {
        try await drive.json("status")("errors").array
            .filter { try $0("message").string.contains("neither here nor at the provider") }
            .map { try $0("path").string }
    }

    /// All devices and the server hold the same.
    func expectSameTrees() async throws {
        let whole = try await content(drives[0].mountpoint)
        for drive in drives.dropFirst() {
            expectSame(try await content(drive.mountpoint), whole, "\(drive.name) and one")
        }
        expectSame(try await StorageServers.tree(account), whole, "the server and one")
    }

    private func names(_ drive: Drive) async throws -> String {
        try await drive.sh("find . -type d -printf 'd %p\\n' -o -printf '%y %s %p\\n' | sort")
    }

    private func content(_ place: String) async throws -> String {
        try await StorageServers.tree(at: place, abortingMountsAt: drives.map(\.mountpoint))
    }

    /// Looks for everything that was promised, in what a new device finds at the account and among kept versions, and says
    /// what is lost.
    func ledger(countsVersions: Bool = true) async throws -> String {
        let books = drives.map(book)
        let reader = try await newDevice()
        let places = [reader.mountpoint] + (countsVersions ? drives.map { "\($0.home)/versions" } : [])
        return try await Command(
            arguments: ["/usr/bin/python3", "\(Machine.programs)/ledger.py", "check"] + books + ["--"] + places,
            limitSeconds: 200, abortingMountsAt: [reader.mountpoint]
        ).succeed().trimmingCharacters(in: .newlines)
    }

    /// One that has everything that is at the account.
    private func newDevice() async throws -> Drive {
        if let reader { return reader }
        let reader = try await workspace.drive(at: account, "reader")
        try await reader.mount()
        // 2: there are conflicts.
        try await reader.quire("sync", "--timeout", "100", limitSeconds: 120).require(0, 2)
        self.reader = reader
        return reader
    }

    /// The requests that changed something where what was lost had been written, or a directory above it, or that had to do
    /// with a version that came about there: so that what the race was can be seen from the test's output.
    ///
    /// - Parameter found: as `ledger` says it.
    func requests(about found: String) throws -> String {
        let places = Set(
            found.split(separator: "\n").dropFirst().compactMap { line in
                line.range(of: " /").map { line[$0.lowerBound...].dropFirst() }
            }
            .flatMap { path in
                let names = path.split(separator: "/")
                return names.indices.map { "/" + names[...$0].joined(separator: "/") }
            })
        let root = "/" + account.address.split(separator: "/").dropFirst(2).joined(separator: "/")
        let targets = places.flatMap { place in
            let target = root + (place.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? place)
            return [" ", "/ ", "'", "/'"].map { target + $0 }
        }
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").filter { line in
            ["PUT", "DELETE", "MOVE", "MKCOL", "COPY", "POST"].contains { line.contains(" \($0) ") }
        }
        let atPlaces = lines.filter { line in targets.contains { line.contains($0) } }
        // Where a text was moved to is known by its version; what many have is no text's.
        let versions = Set(atPlaces.flatMap { $0.matches(of: /"[0-9a-f-]{12,}"/).map(\.output) }).filter { version in
            lines.count { $0.contains(version) } < 40
        }
        let telling = lines.filter { line in (targets + versions.map(String.init)).contains { line.contains($0) } }
        let ways = zip(drives, fronts).map { "\($0.name): \($1.port)" }.joined(separator: ", ")
        return
            "--- requests at \(places.sorted()), by the ports of \(ways)\n\(telling.suffix(100).joined(separator: "\n"))"
    }
}
