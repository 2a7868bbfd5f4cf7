import CLinux
import Glibc
package import QuireCore

/// A file descriptor that is closed when its value goes away.
///
/// Non-copyable, so there is one owner; a named one lives to the end of its scope unless consumed. An unnamed one does
/// not outlive its expression: `open(…).rawValue` is a number that is closed already.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor's number; valid while this value lives, not to be closed by others.
    package let rawValue: Int32

    /// Takes ownership of an open descriptor.
    package init(owning rawValue: Int32) {
        precondition(rawValue >= 0, "a descriptor is not negative")
        self.rawValue = rawValue
    }

    deinit { close(rawValue) }

    /// Gives the number away; the caller closes it.
    package consuming func release() -> Int32 {
        let rawValue = rawValue
        discard self
        return rawValue
    }

    /// Opens `path` (absolute, or relative to the working directory), always with O_CLOEXEC.
    package static func open(_ path: String, _ flags: Int32, mode: UInt16 = 0) throws(StoreError) -> OwnedDescriptor {
        OwnedDescriptor(owning: try systemCall("open", path) { Glibc.open(path, flags | O_CLOEXEC, mode_t(mode)) })
    }

    /// What fstat says; also for descriptors opened with O_PATH.
    package func status() throws(StoreError) -> FileStatus {
        var raw = stat()
        try systemCall("read the attributes of", "an open file") { fstat(rawValue, &raw) }
        return FileStatus(raw)
    }

    /// Writes content and attributes through to the disk.
    package func sync(_ item: @autoclosure () -> String = "an open file") throws(StoreError) {
        try systemCall("fsync", item()) { fsync(rawValue) }
    }

    /// Sets the modification time, and the access time to the same.
    package func setModificationTime(_ time: FileTime, _ item: @autoclosure () -> String) throws(StoreError) {
        let times = [time.timespec, time.timespec]
        try systemCall("set the time of", item()) { futimens(rawValue, times) }
    }

    /// Sets the mode exactly, whatever the umask.
    package func setMode(_ mode: UInt16, _ item: @autoclosure () -> String) throws(StoreError) {
        try systemCall("set the mode of", item()) { fchmod(rawValue, mode_t(mode)) }
    }

    /// The value of an extended attribute; nil where there is none. Not for descriptors opened with O_PATH.
    package func attribute(_ name: String, _ item: @autoclosure () -> String) throws(StoreError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 512)
        while true {
            let count = fgetxattr(rawValue, name, &buffer, buffer.count)
            if count >= 0 { return Array(buffer.prefix(count)) }
            switch errno {
            case ENODATA, EOPNOTSUPP: return nil
            case ERANGE where buffer.count < 65_536: buffer = [UInt8](repeating: 0, count: 65_536)
            case let code: throw StoreError(errno: code, "read the attribute \(name) of", item())
            }
        }
    }

    /// Sets an extended attribute, replacing its value.
    package func setAttribute(_ name: String, _ value: [UInt8], _ item: @autoclosure () -> String) throws(StoreError) {
        try systemCall("set the attribute \(name) of", item()) { fsetxattr(rawValue, name, value, value.count, 0) }
    }
}
