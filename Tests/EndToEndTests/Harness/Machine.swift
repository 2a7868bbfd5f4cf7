import Foundation
import Glibc
import Synchronization
import Testing

/// What this machine lets the tests do, and where their files are.
enum Machine {
    /// The directory of the test binary; the built `quire` lies beside it.
    static let buildDirectory: String = {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        // `swift test` may run the tests inside a helper of the toolchain: then the bundle is among the arguments.
        let candidates = [executable] + CommandLine.arguments
        let found = candidates.first { $0.contains("PackageTests.xctest") } ?? ".build/debug/x"
        return (found as NSString).deletingLastPathComponent
    }()

    /// The binary under test; `QUIRE_BINARY` names another.
    static let quire = environment("QUIRE_BINARY") ?? "\(buildDirectory)/quire"

    /// A shell command that copies the command, and the program that it becomes, to where it runs.
    static let copyPrograms = "{ cp '\(quire)' quire && cp '\(quire)-main' quire-main && chmod 755 quire quire-main; }"

    /// The release build, where there is one.
    static let releaseQuire: String? = {
        let path = (buildDirectory as NSString).deletingLastPathComponent + "/release/quire"
        return access(path, X_OK) == 0 ? path : nil
    }()

    /// The load generator of `Tests/Stress`.
    static let stress = "\(buildDirectory)/quire-stress"

    /// The Python programs beside these tests.
    static let programs =
        ((#filePath as NSString).deletingLastPathComponent as NSString)
        .deletingLastPathComponent + "/Programs"

    /// The scripts that make runs.
    static let scripts = "\(programs)/../../../Scripts"

    static let isRoot = geteuid() == 0

    /// Why no drive can be mounted here; nil where one can.
    static let obstacle: String? = {
        if access(quire, X_OK) != 0 { return "\(quire) is not built" }
        if access("/dev/fuse", F_OK) != 0 { return "/dev/fuse is missing: no drive can be mounted on this machine" }
        if access("/dev/fuse", R_OK | W_OK) != 0 { return "/dev/fuse may not be opened by this user" }
        return nil
    }()

    /// Whether the suites that mount run at all; says loudly why not.
    static let canMount: Bool = {
        guard let obstacle else {
            openDevice()
            return true
        }
        FileHandle.standardError.write(Data("SKIPPED: all end-to-end tests: \(obstacle)\n".utf8))
        return false
    }()

    /// Has `/dev/fuse` open to all users until the tests end, as it is on a desktop. For good: tests run side by side.
    private static func openDevice() {
        var before = stat()
        guard isRoot, stat("/dev/fuse", &before) == 0, before.st_mode & 0o666 != 0o666 else { return }
        deviceMode.store(before.st_mode & 0o777, ordering: .relaxed)
        chmod("/dev/fuse", 0o666)
        atexit { _ = chmod("/dev/fuse", Machine.deviceMode.load(ordering: .relaxed)) }
    }

    private static let deviceMode = Atomic<mode_t>(0o666)

    /// Whether a real file system can be made in an image file; says loudly when not.
    static let canCutPower: Bool = {
        let possible = isRoot && has("mkfs.ext4") && access("/dev/loop-control", R_OK | W_OK) == 0
        if !possible {
            let text = "SKIPPED: power cuts: they need root, loop devices and mkfs.ext4\n"
            FileHandle.standardError.write(Data(text.utf8))
        }
        return possible
    }()

    static func has(_ program: String) -> Bool {
        (environment("PATH") ?? "/usr/bin:/bin:/usr/sbin:/sbin").split(separator: ":")
            .contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// A number from the environment, for runs longer than those of `make test`.
    static func setting(_ name: String, standard: Int) -> Int { environment(name).flatMap { Int($0) } ?? standard }

    /// Where test homes lie: a tmpfs with room and user attributes, else `/tmp`. `QUIRE_TEST_ROOT` overrides.
    static let scratchRoot: String = {
        if let chosen = environment("QUIRE_TEST_ROOT") { return chosen }
        var room = statvfs()
        let shared = "/dev/shm"
        guard statvfs(shared, &room) == 0, UInt64(room.f_bavail) * UInt64(room.f_frsize) > 2 << 30 else {
            return "/tmp"
        }
        let probe = "\(shared)/quire-probe-\(getpid())"
        let script = "touch \(probe) && setfattr -n user.probe -v 1 \(probe); code=$?; rm -f \(probe); exit $code"
        return RunningCommand(Command(arguments: ["sh", "-c", script])).waitForEnd().status == 0 ? shared : "/tmp"
    }()
}
