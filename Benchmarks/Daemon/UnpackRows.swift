import Foundation
import Glibc
import QuireCore

/// What the index costs a program that makes many files: an archive as of a source tree, unpacked on drives in memory that are
/// paused, with the index and without (`-o debug_noindex`), in turns. The best of each counts: other programs of a busy host
/// make some of them twice as long.
struct UnpackRows {
    static let directories = 5_000
    static let files = 70_000

    private let quire: String
    private let root: String
    private var archive: String { root + "/tree.tar" }

    static func measure(_ quire: String, rounds: Int = 3) throws -> [Row] {
        let root = "/dev/shm/quire-daemon-bench-\(UUID())"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let rows = UnpackRows(quire: quire, root: root)
        try rows.makeArchive()
        return try rows.measure(rounds)
    }

    private func measure(_ rounds: Int) throws -> [Row] {
        var with: [Double] = []
        var without: [Double] = []
        var behind: [Double] = []
        for round in 0..<rounds {
            // Each is first as often as second.
            if round % 2 == 0 { without.append(try unpack("debug_noindex").unpacked) }
            let (unpacked, settled) = try unpack(nil)
            with.append(unpacked)
            behind.append(settled - unpacked)
            if round % 2 == 1 { without.append(try unpack("debug_noindex").unpacked) }
        }
        print("unpacking, seconds, with the index: \(Self.text(with)); without: \(Self.text(without))")
        return [
            Row(
                name: "unpacking \(Self.files) files, × without the index, best of \(rounds)",
                value: (with.min() ?? 0) / (without.min() ?? 1), unit: "×", limit: 1.15),
            Row(
                name: "until the index knows them all, after that, best", value: behind.min() ?? 0, unit: "s",
                limit: 5),
        ]
    }

    /// Seconds until the archive is unpacked, and until the index knows it.
    private func unpack(_ options: String?) throws -> (unpacked: Double, settled: Double) {
        let drive = try MountedDrive(quire: quire, options: options)
        try drive.pause()
        let start = ContinuousClock.now
        try Command.run("/usr/bin/tar", "-xf", archive, "-C", drive.mountpoint)
        let unpacked = (ContinuousClock.now - start) / .seconds(1)
        try drive.settle()
        let settled = (ContinuousClock.now - start) / .seconds(1)
        try drive.end()
        return (unpacked, settled)
    }

    /// A tree of two levels; the files have up to 6 KiB.
    private func makeArchive() throws {
        let tree = root + "/tree"
        let content = [UInt8]((0..<6144).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for number in 0..<Self.files {
            let directory = number % Self.directories
            let path = "\(tree)/\(SyntheticTree.directoryName(directory / 100))/\(directory)"
            if number < Self.directories {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            let file = open("\(path)/\(Self.name(number))", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            let size = (number &* 7919) % content.count
            guard file >= 0, write(file, content, size) == size, close(file) == 0 else {
                throw QuireError(.failed, "\(path): \(String(cString: strerror(errno)))")
            }
        }
        try Command.run("/usr/bin/tar", "-cf", archive, "-C", tree, ".")
        try FileManager.default.removeItem(atPath: tree)
    }

    /// `budget 12345.c`: what a source tree has, and nobody makes pictures of.
    private static func name(_ number: Int) -> String {
        "\(SyntheticTree.words[number % 20]) \(number).\(["c", "h", "h", "rst", "S"][number % 5])"
    }

    private static func text(_ values: [Double]) -> String {
        values.map { String(($0 * 100).rounded() / 100) }.joined(separator: " ")
    }
}
