import Dispatch
import Glibc

/// Taking a mount away, as root by umount2(2), else by fusermount3.
package enum Unmounting {
    /// Unmounts whatever FUSE file system is at `mountpoint`; also a dead one (`lazily`).
    ///
    /// Never looks at the mountpoint itself: a dead or hanging mount would answer. Blocking work runs off the cooperative
    /// pool.
    package static func unmount(_ mountpoint: String, lazily: Bool) async throws(MountError) {
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: unmountNow(mountpoint, lazily: lazily)) }
        }
        if case .failure(let error) = result { throw error }
    }

    /// As `unmount`, on the calling thread.
    package static func unmountNow(_ mountpoint: String, lazily: Bool) -> Result<Void, MountError> {
        if umount2(mountpoint, lazily ? CInt(MNT_DETACH) : 0) == 0 { return .success(()) }
        switch errno {
        case EBUSY: return .failure(busy(mountpoint))
        case EPERM: return byHelper(mountpoint, lazily: lazily)
        case EINVAL, ENOENT: return .success(())  // Not mounted any more: somebody else was quicker.
        case let number:
            return .failure(
                MountError(.unavailable, "\(mountpoint) cannot be unmounted: \(String(cString: strerror(number)))"))
        }
    }

    private static func busy(_ mountpoint: String) -> MountError {
        MountError(
            .busy, "\(mountpoint) is in use by some program",
            remedy:
                "Close the files and leave the directory (`fuser -vm \(mountpoint)` names the programs), then try again."
        )
    }

    private static func byHelper(_ mountpoint: String, lazily: Bool) -> Result<Void, MountError> {
        let words = ["fusermount3", lazily ? "-uz" : "-u", "--", mountpoint]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let started = posix_spawnp(&process, "fusermount3", nil, nil, &arguments, environ)
        guard started == 0 else {
            return .failure(
                MountError(
                    .unavailable, "fusermount3 cannot be run: \(String(cString: strerror(started)))",
                    remedy: "Install the package fuse3."))
        }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? .success(()) : .failure(busy(mountpoint))
    }
}
