import Foundation
import Glibc
import QuireCore
import QuireTestSupport
import Testing

@testable import QuireConfinement

/// Programs that do their worst.
@Suite("Confined programs", .timeLimit(.minutes(2)))
struct ConfinedProgramTests {
    /// Apart from the threads that all tests share.
    private static let pool = BackgroundPool(label: "confined", width: 4, niceness: 0)

    private static func run(
        _ script: String, limits: ConfinementLimits = .init(), isCancelled: @escaping @Sendable () -> Bool = { false }
    ) async throws -> (end: ConfinedEnd, files: [String: String]) {
        try await pool.run { try runNow(script, limits, isCancelled) }
    }

    private static func runNow(
        _ script: String, _ limits: ConfinementLimits, _ isCancelled: () -> Bool
    ) throws -> (end: ConfinedEnd, files: [String: String]) {
        let directory = try TemporaryDirectory()
        let work = WorkDirectory(staging: directory.path, purpose: "test", name: "\(UUID().uuidString)")
        let place = try work.make()
        defer { WorkDirectory.remove(URL(filePath: place).deletingLastPathComponent().path) }
        let program = try directory.script("program", script)
        let end = try ConfinedProgram(program: program, arguments: ["an argument"], directory: place, limits: limits)
            .run(isCancelled: isCancelled)
        var files: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: place) {
            let data = FileManager.default.contents(atPath: "\(place)/\(name)")
            files[name] = data.map { String(decoding: $0.prefix(4096), as: UTF8.self) } ?? ""
        }
        return (end, files)
    }

    private static func limits(_ seconds: Int) -> ConfinementLimits {
        var limits = ConfinementLimits()
        limits.time = .seconds(seconds)
        return limits
    }

    @Test(
        "A program has its arguments, its directory, nothing of the daemon's descriptors and environment, and no privileges"
    )
    func surroundings() async throws {
        setenv("QUIRE_TEST_SECRET", "secret", 1)
        let (end, files) = try await Self.run(
            """
            echo "$1" > argument; pwd > directory; env > environment; ls /proc/self/fd > descriptors
            grep -E '^(CapEff|NoNewPrivs|Uid)' /proc/self/status > status; nice > nice; ulimit -n > files
            """)
        #expect(end == .exited(code: 0))
        #expect(files["argument"] == "an argument\n")
        #expect(files["environment"]?.contains("SECRET") == false)
        #expect(files["environment"]?.contains("HOME=/") == true)
        // The last one is of the listing itself.
        #expect(files["descriptors"] == "0\n1\n2\n3\n")
        #expect(files["status"]?.contains("NoNewPrivs:\t1") == true)
        if geteuid() == 0 {
            #expect(files["status"]?.contains("CapEff:\t0000000000000000") == true)
            #expect(files["status"]?.contains("Uid:\t65534") == true)
        }
        #expect(files["nice"] == "19\n")
        #expect(files["files"] == "64\n")
    }

    @Test("Codes and crashes are told apart from success; what cannot be executed is a failure")
    func codes() async throws {
        #expect(try await Self.run("exit 3").end == .exited(code: 3))
        #expect(try await Self.run("kill -SEGV $$; sleep 5").end != .exited(code: 0))
        let directory = try TemporaryDirectory()
        let missing = ConfinedProgram(program: "/nowhere/prog", arguments: [], directory: directory.path)
        #expect(try missing.run() == .exited(code: 127))
    }

    @Test("A program that hangs, with children that hide from its process group, is killed with all of them")
    func hangs() async throws {
        let marker = "\(UInt32.random(in: 100_000...999_999))"
        let start = ContinuousClock.now
        let (end, _) = try await Self.run(
            "trap '' TERM INT HUP; setsid sleep \(marker) & (setsid sleep \(marker) &) ; sleep \(marker)",
            limits: Self.limits(1))
        #expect(end == .outOfTime)
        #expect(ContinuousClock.now - start < .seconds(10))
        // Killed with the namespace, by the kernel, once its first process is gone.
        let deadline = Date(timeIntervalSinceNow: 10)
        while Self.runs("sleep\0\(marker)\0"), Date() < deadline { try await Task.sleep(for: .milliseconds(10)) }
        #expect(!Self.runs("sleep\0\(marker)\0"))
    }

    @Test("A program that forks without end is held at its number of processes, and killed")
    func forks() async throws {
        var limits = Self.limits(2)
        limits.processes = 20
        let (end, files) = try await Self.run(
            """
            for i in $(seq 60); do sleep 97 & done 2> refused
            jobs -p | wc -l > running; wait
            """, limits: limits)
        // Bash gives up when a fork is refused for long.
        #expect(end == .outOfTime || end != .exited(code: 0))
        let running = files["running"].flatMap { Int($0.filter(\.isNumber)) } ?? 0
        #expect(running < 20)
    }

    @Test("A program that allocates without end is refused memory")
    func memory() async throws {
        let (end, files) = try await Self.run(
            "/usr/bin/python3 -c 'x = [bytearray(1 << 24) for _ in range(1 << 12)]' 2> error; echo $? > code")
        #expect(end == .exited(code: 0))
        #expect(files["code"] == "1\n")
        #expect(files["error"]?.contains("MemoryError") == true)
    }

    @Test("A program that writes 10 GB fails at the limit of a file, and with many files is killed")
    func writes() async throws {
        let one = try await Self.run("head -c 10G /dev/zero > large; echo $? > code; stat -c %s large > size")
        #expect(one.files["code"] != "0\n")
        #expect(one.files["size"].flatMap { Int($0.filter(\.isNumber)) } ?? .max <= 16_777_216)
        let many = try await Self.run("for i in $(seq 1000); do head -c 16000000 /dev/zero > f$i; sleep 0.01; done")
        #expect(many.end == .wroteTooMuch)
    }

    @Test("A program that is waited for is killed when the work is cancelled")
    func cancelled() async throws {
        await #expect(throws: QuireError.self) { try await Self.run("sleep 60", isCancelled: { true }) }
    }

    @Test(
        "A program reaches no network",
        .enabled(if: geteuid() == 0, "whether an ordinary user may is the kernel's choice"))
    func network() async throws {
        let (_, files) = try await Self.run("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' ' > devices")
        #expect(files["devices"]?.split(separator: "\n").filter { $0 != "lo" && !$0.hasPrefix("sit") }.isEmpty == true)
    }

    private static func runs(_ command: String) -> Bool {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.contains { process in
            Int(process) != nil
                && FileManager.default.contents(atPath: "/proc/\(process)/cmdline") == Data(command.utf8)
        }
    }
}
