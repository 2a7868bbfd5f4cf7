import Foundation
import Testing

/// A drive at a real server while much goes wrong on the way (`Tests/Servers/weather`).
///
/// Each test mostly waits: several run side by side.
@Suite(
    "Weather", .timeLimit(.minutes(10)), .enabled(if: Machine.canMount, "a drive can be mounted on this machine"))
struct WeatherTests {
    static var servers: [String] { ["apache", "seaweedfs"].filter { StorageServers.started[$0] != nil } }

    /// Weather in which some requests fail and others do not.
    static let weathers: [String: [Weather.Rule]] = [
        "delays": [.init(fault: "delay", chance: 0.5, seconds: 0.3)],
        "requests that are cut off": [
            .init(fault: "reset-request", chance: 0.1), .init(fault: "reset-body", chance: 0.1),
        ],
        "answers that never come, of what was done": [
            .init(fault: "reset-answer", chance: 0.1), .init(fault: "lost", chance: 0.1, status: 502),
        ],
        "answers that are cut off": [
            .init(fault: "cut-answer", chance: 0.1), .init(fault: "short-answer", chance: 0.1),
        ],
        "a server in trouble": [500, 502, 503, 507].map { .init(fault: "status", chance: 0.06, status: $0) },
        "a busy server": [
            .init(fault: "status", chance: 0.05, status: 429, retryAfter: 1),
            .init(fault: "status", chance: 0.05, status: 503, retryAfter: 1),
        ],
        "a secret refused now and then": [.init(fault: "status", chance: 0.1, status: 401)],
        "wrong entity tags": [.init(fault: "etag", chance: 0.2)],
        "documents with a wrong byte": [.init(fault: "flip", chance: 0.6, methods: ["GET"], path: "^[^?]+$")],
        "a clock that is off by an hour": [
            .init(fault: "date", seconds: 3600), .init(fault: "status", chance: 0.1, status: 403, seconds: 3600),
        ],
        "listings that are garbage": [.init(fault: "garbage", chance: 0.3, methods: ["PROPFIND", "GET"])],
        "all of it": WeatherRules.mixed.filter { $0.fault != "etag" },
    ]
    /// Where the server lies about versions, a document that was deleted here looks as if it had been edited there, and
    /// comes back.
    static let lies = "wrong entity tags"
    /// `QUIRE_WEATHER` chooses some, by words in their names.
    static var kinds: [String] {
        let wanted = Machine.environment("QUIRE_WEATHER")
        return weathers.keys.filter { name in wanted.map { name.contains($0) } ?? true }.sorted()
    }

    @Test(
        "Nothing is lost and nothing doubled, whatever the weather was", arguments: servers,
        kinds)
    func changeable(server: String, kind: String) async throws {
        let rules = try #require(Self.weathers[kind])
        let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))
        try await withDrive(at: server, seed: seed) { drive, front, account in
            try await drive.sh("echo before > before")
            try await drive.sync()
            try front.set(rules)
            async let syncs = drive.quire("sync", "--timeout", "4")
            let wanted = try await drive.python(
                "weather_load.py", [drive.mountpoint, "\(seed)", "4"], limitSeconds: 60
            ).succeed()
            _ = await syncs
            try await expectReadable(drive)
            #expect(try front.count.faults.values.reduce(0, +) > 0, "the weather was good")
            try front.clear()
            try await settle(drive)
            try await expectAll(
                wanted, drive, account, beside: ["before"], "QUIRE_SEED=\(seed)", allowsMore: kind == Self.lies)
        }
    }

    /// A document that is fetched in such weather is whole, or cannot be read.
    private func expectReadable(_ drive: Drive) async throws {
        for _ in 0..<8 {
            _ = await drive.quire("evict", "before")
            let read = await drive.shell("cat before").run()
            #expect(read.status != 0 || read.output == "before\n", "\(read)")
        }
    }

    /// What `quire status` says of it, and how many requests of a drive with work to do are too many.
    struct Outage: Sendable, CustomTestStringConvertible {
        let name: String
        let rules: [Weather.Rule]
        let words: String
        var testDescription: String { name }
    }

    static let outages = [
        Outage(name: "connections refused", rules: [], words: "refuses connections"),
        Outage(name: "connections reset", rules: [.init(fault: "reset-request")], words: "closed the connection"),
        Outage(name: "503 for ever", rules: [.init(fault: "status", status: 503)], words: "busy"),
        Outage(name: "500 for ever", rules: [.init(fault: "status", status: 500)], words: "500"),
        Outage(
            name: "the secret is revoked", rules: [.init(fault: "status", status: 401)], words: "`quire provider secret"
        ),
        Outage(
            name: "listings are garbage",
            rules: [.init(fault: "garbage", methods: ["PROPFIND"]), .init(fault: "garbage", path: "list-type")],
            words: "the server's"),
        Outage(
            name: "listings never end",
            rules: [.init(fault: "endless", methods: ["PROPFIND"]), .init(fault: "endless", path: "list-type")],
            words: "longer than"),
    ]

    @Test(
        "While the server is of no use work goes on, the reason is told, and it is asked with growing pauses",
        arguments: servers, outages)
    func outage(server: String, outage: Outage) async throws {
        try await withDrive(at: server, poll: 1) { drive, front, account in
            try await drive.sh("echo before > before; mkdir d")
            try await drive.sync()
            if outage.rules.isEmpty { try front.down() } else { try front.set(outage.rules) }
            let before = try front.count
            let wanted = try await drive.python("weather_load.py", [drive.mountpoint, "1", "10"]).succeed()
            let after = try front.count
            // Twice a second would be a loop; pauses grow from one second on, each attempt makes a few requests.
            #expect(after.requests - before.requests < 100, "\(after)")
            #expect(after.connections - before.connections < 100, "\(after)")
            let ended = await drive.quire("sync", "--timeout", "20", limitSeconds: 40)
            #expect(ended.status == 75, "\(ended)")
            try await isTold(drive, outage)
            try front.clear()
            try front.up()
            try await settle(drive)
            try await expectAll(wanted, drive, account, beside: ["before", "d"], outage.name)
        }
    }

    /// A listing that never ends takes its time until it is known as one.
    private func isTold(_ drive: Drive, _ outage: Outage) async throws {
        let end = Date(timeIntervalSinceNow: 60)
        while true {
            let provider = try #require(try await drive.json("status")("providers").array.first)
            let status = await drive.quire("status").output
            if try !provider("online").bool, status.contains("offline"), status.contains(outage.words) { return }
            guard Date() < end else { throw Trouble("what is wrong is not told: \(status)") }
            try await Task.sleep(for: .milliseconds(300))
        }
    }

    @Test(
        "A byte that turns over on its way up is refused by the store, or by who reads the document; its writer has it, and mends it",
        arguments: servers)
    func flippedUpload(server: String) async throws {
        try await withDrive(at: server) { drive, front, account in
            try await drive.sync()
            // In what is sent first, and nothing else.
            try front.set(.init(fault: "flip-body", methods: ["PUT"], path: "/doc$", times: 1))
            try await drive.sh("seq 1000 > doc")
            try await settle(drive)
            #expect(try front.count.faults["flip-body"] == 1)
            try await Workspace.use { workspace in
                let other = try await workspace.drive(at: account, "two")
                try await other.mount()
                try await other.sync()
                let read = await other.shell("cat doc").run()
                if server == "apache" {
                    #expect(read.status != 0 && read.output.isEmpty, "\(read)")
                    let told = await other.quire("download", "doc")
                    #expect(told.status != 0 && told.errors.contains("SHA-256"), "\(told)")
                } else {
                    #expect(read.output == "\((1...1000).map { "\($0)\n" }.joined())")
                }
                #expect(try await drive.sh("cat doc | wc -l") == "1000\n")
                try await drive.sh("echo more >> doc")
                try await settle(drive)
                try await other.sync()
                #expect(try await other.sh("cat doc | wc -l; tail -1 doc") == "1001\nmore\n")
            }
        }
    }

    @Test("A server that is full is told of, and gets what waits when there is room again", arguments: servers)
    func full(server: String) async throws {
        try await withDrive(at: server) { drive, front, account in
            try await drive.sh("echo before > before; mkdir d")
            try await drive.sync()
            try await drive.sh("echo before > evicted; echo before > superfluous")
            try await drive.sync()
            try await drive.quire("evict", "evicted").require(0)
            try front.set(.init(fault: "status", methods: ["PUT", "MKCOL", "PROPPATCH"], status: 507))
            let wanted = try await drive.python("weather_load.py", [drive.mountpoint, "2", "3"]).succeed()
            try await expectFull(drive)
            #expect(try front.count.faults["status", default: 0] < 400)
            // A daemon that starts meanwhile can try nothing by writing.
            try await drive.unmount()
            try await drive.mount()
            try await expectFull(drive)
            #expect(try await drive.sh("cat evicted") == "before\n")
            try await drive.sh("rm superfluous")
            if server == "apache" { try await isGone("superfluous", account) }
            try front.clear()
            try await settle(drive)
            try await expectAll(wanted, drive, account, beside: ["before", "d", "evicted"], "507")
        }
    }

    private func expectFull(_ drive: Drive) async throws {
        let ended = await drive.quire("sync", "--timeout", "20")
        #expect(ended.status == 2 || ended.status == 75, "\(ended)")
        let status = await drive.quire("status").output
        #expect(status.contains("507") && status.contains("disk is full"), "\(status)")
    }

    /// Removing needs no room: it makes some.
    private func isGone(_ name: String, _ account: StorageServers.Account) async throws {
        let end = Date(timeIntervalSinceNow: 30)
        while try await StorageServers.tree(account).contains(" '\(name)'") {
            guard Date() < end else { throw Trouble("\(name) is still at the server") }
            try await Task.sleep(for: .milliseconds(300))
        }
    }

    @Test("Opening a document whose content is elsewhere fails in time, and can be interrupted", arguments: servers)
    func dataless(server: String) async throws {
        try await withDrive(at: server) { drive, front, account in
            let names = ["refused", "silent", "interrupted"]
            for name in names { try await drive.sh("seq 5000 > \(name)") }
            try await drive.sync()
            try await drive.quire(["evict"] + names).require(0)
            try front.set(.init(fault: "silence"))
            async let interrupted = opening(drive, "interrupted")
            async let silent = opening(drive, "fails", "silent")
            #expect(try await interrupted == ["SIGINT"])
            let late = try await silent
            #expect(["ENETUNREACH", "ETIMEDOUT"].contains(late[0]) && Int(late[1]) ?? 99 <= 35, "\(late)")
            try front.down()
            let refused = try await opening(drive, "fails", "refused")
            #expect(["ENETUNREACH", "ETIMEDOUT"].contains(refused[0]) && Int(refused[1]) ?? 99 <= 12, "\(refused)")
            try front.clear()
            try front.up()
            try await settle(drive)
            #expect(try await drive.sh("cat \(names.joined(separator: " ")) | wc -l") == "15000\n")
        }
    }

    /// What `open_waiting.py` says.
    private func opening(_ drive: Drive, _ verb: String, _ name: String = "interrupted") async throws -> [String] {
        let program = drive.python("open_waiting.py", [verb, "\(drive.mountpoint)/\(name)"], limitSeconds: 60)
        return try await program.succeed().split(whereSeparator: \.isWhitespace).map(String.init)
    }

    private func withDrive(
        at server: String, seed: Int = 0, poll: Int = 2,
        _ body: @escaping (Drive, Weather.Front, StorageServers.Account) async throws -> Void
    ) async throws {
        let account = try await StorageServers.account(server)
        let weather = try Weather(seed: seed)
        let front = try weather.front("one", to: account.authority)
        try await Workspace.use { workspace in
            let drive = try await workspace.drive(at: account.through(port: front.port), "one")
            try drive.configure("poll_seconds", "\(poll)")
            try await drive.mount()
            try await body(drive, front, account)
        }
    }

    /// All that waits is done, within a time in which also a lock of which nobody knows has ended.
    private func settle(_ drive: Drive) async throws {
        let end = Date(timeIntervalSinceNow: 100)
        while true {
            let ended = await drive.quire("sync", "--timeout", "30", limitSeconds: 60)
            if ended.status == 0 { return }
            guard Date() < end else {
                let status = await drive.quire("status")
                throw Trouble("quire sync: \(ended)\n\(status.output)")
            }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    /// The drive and the server hold exactly this, and `extra` beside it; or more than that.
    private func expectAll(
        _ wanted: String, _ drive: Drive, _ account: StorageServers.Account, beside extra: [String], _ what: String,
        allowsMore: Bool = false
    ) async throws {
        let here = try await StorageServers.tree(at: drive.mountpoint, abortingMountsAt: [drive.mountpoint])
        let there = try await StorageServers.tree(account)
        let lines = Set(wanted.split(separator: "\n"))
        let own = here.split(separator: "\n").filter { line in
            !extra.contains { line.hasSuffix(" '\($0)'") } && (!allowsMore || lines.contains(line))
        }
        expectSame(own.joined(separator: "\n"), wanted.trimmingCharacters(in: .newlines), "\(what): drive and work")
        expectSame(here, there, "\(what): drive and server")
    }
}
