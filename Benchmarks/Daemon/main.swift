import Glibc
import QuireTransport

// quire-daemon-bench [--check] [--only claims|queries|find|unpack] [--trials N] [--quire BINARY]: what claims, queries
// and the index cost, in the daemon's parts and, with a binary of quire, on a drive. With --check a missed limit makes the exit code 1.

var arguments = CommandLine.arguments.dropFirst()
var quire: String?
var checks = false
var only: String?
var trials = 10_000
while let argument = arguments.popFirst() {
    switch argument {
    case "--check": checks = true
    case "--quire": quire = arguments.popFirst()
    case "--trials": trials = arguments.popFirst().flatMap { Int($0) } ?? trials
    case "--only": only = arguments.popFirst()
    default:
        print(
            "usage: quire-daemon-bench [--check] [--only claims|queries|find|unpack] [--trials NUMBER] [--quire BINARY]"
        )
        exit(64)
    }
}
var rows: [Row] = []
if only == nil || only == "claims" { rows += try await claims(quire) }
if only == nil || only == "queries" {
    rows += try await QueryRows.measure()
    if let quire { rows += try await stitching(quire, trials: trials) }
}
if only == nil || only == "find", let quire { rows += try FindRows.measure(quire, files: 1_000_000) }
if only == nil || only == "unpack", let quire { rows += try UnpackRows.measure(quire) }

func stitching(_ quire: String, trials: Int) async throws -> [Row] {
    let drive = try MountedDrive(quire: quire)
    let time = try await drive.stitching()
    let misses = try await drive.misses(of: trials)
    try drive.end()
    return [
        Row(name: "from a rename's return to a running query, 99th of 100", value: time, unit: "ms", limit: 10),
        Row(
            name: "of \(trials) queries begun after a change, those that did not know of it", value: Double(misses),
            unit: "",
            limit: 0),
    ]
}

func claims(_ quire: String?) async throws -> [Row] {
    var rows = [
        Row(
            name: "what a program's call pays while nobody coordinates", value: Machine.looking(), unit: "ns",
            limit: 100),
        Row(
            name: "claim and release, nobody in the way", value: try Machine.uncontended(presenters: 0), unit: "ns",
            limit: 1_000),
        Row(
            name: "the same with 1,000 presenters of other documents",
            value: try Machine.uncontended(presenters: 1_000),
            unit: "ns", limit: 2_000),
        Row(
            name: "100,000 queued claims, × 10,000", value: Machine.queued(100_000) / Machine.queued(10_000), unit: "×",
            limit: 12),
    ]
    guard let quire else { return rows }
    let drive = try MountedDrive(quire: quire)
    let other = try MountedDrive(quire: quire)
    rows.append(
        Row(
            name: "claim and release over the socket, median", value: try await drive.overSocket(), unit: "µs",
            limit: 60))
    rows.append(
        Row(
            name: "create, write, read, remove beside 1,000 presenters, × without",
            value: try await besidePresenters(drive, other), unit: "×", limit: 1.05))
    try drive.end()
    try other.end()
    return rows
}

/// How many times as long a plain program takes on a drive where an app presents 1,000 other documents.
func besidePresenters(_ drive: MountedDrive, _ other: MountedDrive) async throws -> Double {
    let app = try await other.present(1_000)
    defer { app.close() }
    var alone = Double.infinity
    var beside = Double.infinity
    // Turn by turn, so that both see the machine alike.
    for _ in 0..<100 {
        alone = min(alone, try time(drive.workAsProgram))
        beside = min(beside, try time(other.workAsProgram))
    }
    return beside / alone
}

print("| | | | at most | |\n|---|---:|---|---:|---|")
for row in rows { print(row.line) }
if checks, rows.contains(where: \.isMissed) { exit(1) }
