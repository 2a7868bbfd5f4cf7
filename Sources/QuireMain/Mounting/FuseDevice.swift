import Glibc
import QuireCore

/// Whether this machine and this user can mount at all.
enum FuseDevice {
    /// - Throws: `.unavailable`, saying what to install or which permission is missing.
    static func check(path: String = "/dev/fuse") throws(QuireError) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(errno, path: path) }
        close(descriptor)
        guard geteuid() != 0, !hasFusermount() else { return }
        throw QuireError(
            .unavailable, "the program fusermount3 is missing, which mounts for users",
            remedy: "Install it: `sudo apt-get install fuse3`")
    }

    private static func refusal(_ code: Int32, path: String) -> QuireError {
        switch code {
        case ENOENT:
            QuireError(
                .unavailable, "\(path) is missing: this kernel or container has no FUSE",
                remedy: "Load it with `sudo modprobe fuse`; in a container, start it with `--device /dev/fuse`")
        case EACCES, EPERM:
            QuireError(
                .unavailable, "\(path) may not be opened by this user",
                remedy: "Give access: `sudo chmod 666 \(path)`, or join the group that owns it (`ls -l \(path)`)")
        case ENODEV, ENXIO:
            QuireError(
                .unavailable, "\(path) is there but the kernel's FUSE module is not",
                remedy: "Load it with `sudo modprobe fuse`")
        default: QuireError(.unavailable, "cannot open \(path): \(String(cString: strerror(code)))")
        }
    }

    private static func hasFusermount() -> Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains { access("\($0)/fusermount3", X_OK) == 0 }
    }
}
