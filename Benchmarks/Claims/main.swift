import Glibc
import QuireTransport
import QuireCoordination
import QuireCore

// quire-claims [--check] [--home HOME]: what claims cost, in the daemon's machine and, with a drive that is mounted, over its
// socket. With --check a missed limit makes the exit code 1.

/// One measurement and its limit.
struct Row {
    let name: String
    let value: Double
    let unit: String
    let limit: Double

    var isMissed: Bool { value > limit }

    var line: String {
        let shown = (value * 100).rounded() / 100
        return "| \(name) | \(shown) | \(unit) | \(limit) | \(isMissed ? "MISSED" : "ok") |"
    }
}

/// The least of several times, in nanoseconds.
func best(of rounds: Int, _ body: () throws -> Void) rethrows -> Double {
    var least = Double.infinity
    for _ in 0..<rounds {
        let start = ContinuousClock.now
        try body()
        least = min(least, (ContinuousClock.now - start) / .nanoseconds(1))
    }
    return least
}

/// Claim and release with nobody in the way, nanoseconds for both.
func uncontended(presenters: Int) throws -> Double {
    let coordinator = Coordinator()
    for number in 0..<presenters {
        let presenter = PresenterRegistration(
            id: PresenterID(0), client: ClientID(1),
            path: RelativePath([FileName("other \(number)")].compactMap(\.self)),
            purpose: Purpose("p"))
        _ = coordinator.register(presenter, link: NoLink())
    }
    let path: RelativePath = "notes/2026/a document.txt"
    let count = 200_000
    let time = try best(of: 5) {
        for _ in 0..<count {
            guard let claim = try coordinator.tryAcquire([.writing(path)], purpose: Purpose("app")) else { exit(1) }
            coordinator.release(claim)
        }
    }
    return time / Double(count)
}

/// The machine alone: `count` writers queue for one item and are served, nanoseconds altogether.
func queued(_ count: Int) -> Double {
    best(of: 3) {
        var machine = CoordinationMachine()
        for number in 0..<count {
            _ = machine.request(
                AccessRequest(
                    ClaimRequest(
                        id: ClaimID(UInt64(number)), accesses: [.writing("a")], purpose: Purpose("p\(number)"))))
        }
        for number in 0..<count { _ = machine.release(ClaimID(UInt64(number))) }
        precondition(machine.isEmpty)
    }
}

/// Claim and release over the socket, median in microseconds.
func overSocket(home: String) async throws -> Double {
    let connection = try DriveConnection(home: home)
    defer { connection.close() }
    var times: [Double] = []
    for _ in 0..<5_000 {
        let start = ContinuousClock.now
        let access = CoordinationMethods.Access(path: WirePath("a document.txt"), access: "write")
        let claim = try await connection.call(CoordinationMethods.Acquire.self, .init([access]))
        _ = try await connection.call(CoordinationMethods.Release.self, .init(claim: claim.claim))
        times.append((ContinuousClock.now - start) / .microseconds(1))
    }
    return times.sorted()[times.count / 2]
}

/// A presenter that is never called here.
struct NoLink: PresenterLink {
    func ask(_ question: QuestionID, of presenter: PresenterID, _ content: PresenterQuestion, timeout: Duration) {}
    func tell(_ presenter: PresenterID, _ message: PresenterMessage) {}
    func passedOver(_ presenter: PresenterID, _ question: PresenterQuestion) {}
}

var arguments = CommandLine.arguments.dropFirst()
var home: String?
var checks = false
while let argument = arguments.popFirst() {
    switch argument {
    case "--check": checks = true
    case "--home": home = arguments.popFirst()
    default:
        print("usage: quire-claims [--check] [--home HOME]")
        exit(64)
    }
}
var rows = [
    Row(name: "claim and release, nobody in the way", value: try uncontended(presenters: 0), unit: "ns", limit: 1_000),
    Row(
        name: "the same with 1,000 presenters of other documents", value: try uncontended(presenters: 1_000),
        unit: "ns",
        limit: 2_000),
    Row(name: "100,000 queued claims, × 10,000", value: queued(100_000) / queued(10_000), unit: "×", limit: 12),
]
if let home {
    rows.append(
        Row(
            name: "claim and release over the socket, median", value: try await overSocket(home: home), unit: "µs",
            limit: 60))
}
print("| | | | at most | |\n|---|---:|---|---:|---|")
for row in rows { print(row.line) }
if checks, rows.contains(where: \.isMissed) { exit(1) }
