import Foundation
import Glibc
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
        guard let obstacle else { return true }
        FileHandle.standardError.write(Data("SKIPPED: all end-to-end tests: \(obstacle)\n".utf8))
        return false
    }()

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
