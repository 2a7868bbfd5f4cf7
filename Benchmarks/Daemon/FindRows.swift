import Foundation
import Glibc
import QuireCore
import QuireTransport

/// Queries as commands, beside `find` on the mount (which the kernel has in memory) and plocate on the same tree.
///
/// Of names only: for sizes and dates `find` looks at each file, and plocate knows none. Without plocate its rows are left out.
/// Times are the least of many runs of the whole command, each program's in turn: so that all see the machine alike.
struct FindRows {
    private let drive: MountedDrive
    private let quire: String
    private let database: String
    private let plocate: String?

    static func measure(_ quire: String, files: Int) throws -> [Row] {
        let drive = try MountedDrive(quire: quire, files: files)
        let database = drive.home + "/plocate.db"
        let plocate = FileManager.default.isExecutableFile(atPath: "/usr/bin/plocate") ? "/usr/bin/plocate" : nil
        if plocate != nil {
            try Command.run(
                "/usr/bin/updatedb", "-U", drive.store, "-o", database, "--prunefs", "", "--prunepaths", "",
                "--prune-bind-mounts", "0", "-l", "0")
        }
        let rows = try FindRows(drive: drive, quire: quire, database: database, plocate: plocate).measure(files)
        try drive.end()
        return rows
    }

    private func measure(_ files: Int) throws -> [Row] {
        let name = SyntheticTree.name(files / 2)
        let part = String(name.dropFirst(3).prefix { $0 != "." })
        try namesIndexed(part)
        var rows: [Row] = []
        // What the command itself takes: it starts, connects and is answered.
        let start = try best(of: Self.runs) { try ask("name == \"\(name)\"") } / 1_000_000
        rows.append(Row(name: "`quire find` of a name", value: start, unit: "ms", limit: 15))
        rows += try against("a name", "name == \"\(name)\"", find: ["-name", name], plocate: ["-b", "\\" + name])
        rows += try against(
            "a part of a name", "name == \"*\(part)*\"", find: ["-name", "*\(part)*"], plocate: ["-b", part])
        rows += try against(
            "a part of a name in any case", "name == \"*\(part.uppercased())*\"c",
            find: ["-iname", "*\(part.uppercased())*"], plocate: ["-b", "-i", part.uppercased()])
        rows += try against(
            "a tenth of all names", "name == \"*.pdf\"", find: ["-name", "*.pdf"], plocate: ["-b", "*.pdf"])
        return rows
    }

    /// Parts of names are indexed when nothing else is to be done; until then a query looks at each that waits.
    private func namesIndexed(_ part: String) throws {
        for _ in 0..<600 where try quiet("name == \"*\(part)*\"") > 200_000_000 { usleep(200_000) }
    }

    private static let runs = 40
    /// `find` takes about a second, so that its least shows sooner.
    private static let turnsOfFind = 10

    private func quiet(_ condition: String) throws -> Double { try best(of: 5) { try ask(condition) } }

    private func ask(_ condition: String) throws { try Command.run(quire, "find", "--home", drive.home, condition) }

    /// One row a program: how many times as long `quire find` takes.
    private func against(
        _ name: String, _ condition: String, find: [String], plocate arguments: [String]
    ) throws -> [Row] {
        var (ours, finds, locates) = (Double.infinity, Double.infinity, Double.infinity)
        for run in 0..<Self.runs {
            ours = min(ours, try time { try ask(condition) })
            if let plocate {
                locates = min(locates, try time { try Command.run(plocate, ["-d", database] + arguments) })
            }
            guard run % (Self.runs / Self.turnsOfFind) == 0 else { continue }
            finds = min(finds, try time { try Command.run("/usr/bin/find", [drive.mountpoint] + find) })
        }
        var rows = [
            Row(name: "\(name)", value: ours / 1_000_000, unit: "ms", limit: .infinity),
            Row(name: "\(name), × `find`", value: ours / finds, unit: "×", limit: 1),
        ]
        if plocate != nil { rows.append(Row(name: "\(name), × plocate", value: ours / locates, unit: "×", limit: 1)) }
        return rows
    }
}
