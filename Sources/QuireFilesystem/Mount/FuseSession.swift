import CFuse
import Glibc

/// Opening a session with the kernel.
enum FuseSession {
    /// Makes a session for `driver` and mounts it.
    ///
    /// The driver is retained for the life of the process: the kernel's requests point to it.
    static func open(
        driver: Driver, mountpoint: String, options: MountOptions
    ) throws(MountError) -> SessionPointer {
        try checkDevice()
        var operations = Operations.table()
        let arguments = ["quire", "-o", kernelOptions(options)]
        var copies = arguments.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let owner = Unmanaged.passRetained(driver)
        let count = CInt(copies.count)
        let made = copies.withUnsafeMutableBufferPointer {
            cfuse_session_new(
                count, $0.baseAddress, &operations, owner.toOpaque(), options.passthrough && geteuid() == 0)
        }
        guard let made else {
            owner.release()
            throw MountError(.unavailable, "libfuse refused the mount options \"\(kernelOptions(options))\"")
        }
        if driver.trace != nil {
            made.pointee.answering = { owner, unique, error, length in
                guard let owner else { return }
                let driver = Unmanaged<Driver>.fromOpaque(owner).takeUnretainedValue()
                driver.trace?.answering(unique, error: error, length: length)
            }
        }
        let result = cfuse_session_mount(made, mountpoint)
        guard result == 0 else {
            cfuse_session_free(made)
            owner.release()
            throw MountError(mountFailed: mountpoint, errno: -result)
        }
        return SessionPointer(raw: made)
    }

    private static func kernelOptions(_ options: MountOptions) -> String {
        // In libfuse's list of options a comma and a backslash need one before them.
        let source = options.source.flatMap { $0 == "," || $0 == "\\" ? "\\\($0)" : "\($0)" }
        var words = ["fsname=\(String(source))", "subtype=quire"]
        // A mount that is root's alone needs no checks of the kernel's, and each would ask anew for the attributes of the
        // directory that the last change was made in. Whoever wants them there, for what `PatientRetries` has by them, asks.
        let checks = "default_permissions"
        if options.allowOther || geteuid() != 0, !options.others.contains(checks) { words.append(checks) }
        if options.allowOther { words.append("allow_other") }
        return (words + options.others).joined(separator: ",")
    }

    private static func checkDevice() throws(MountError) {
        if access("/dev/fuse", F_OK) != 0 {
            throw MountError(
                .unavailable, "/dev/fuse is missing",
                remedy: "Load the kernel's fuse module (modprobe fuse) and install fuse3.")
        }
        if access("/dev/fuse", R_OK | W_OK) != 0 {
            throw MountError(
                .unavailable, "/dev/fuse may not be opened by this user",
                remedy: "Its mode is usually 0666: ask an administrator for `chmod 666 /dev/fuse`, or join its group.")
        }
    }
}
