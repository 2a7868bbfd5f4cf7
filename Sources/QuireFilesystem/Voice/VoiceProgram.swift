import CFuse
import CLinux
import Glibc
import QuireCore

/// The process that makes calls on the mount for the daemon, and does nothing else.
///
/// A process of its own: one that waits for the kernel on a mount that it serves itself cannot be ended, as its connection
/// stays open as long as it waits. This one has no part of the connection. It ends when the daemon has ended, as the other end
/// of its channel (standard input) is closed then; calls that it is in are ended by the connection's end.
package struct VoiceProgram: Sendable, Equatable {
    /// This program, for posix_spawn(3).
    private let program: String
    /// Absolute path.
    private let mountpoint: String
    /// The first argument of the process.
    private static let word = "--voice-of-mount"

    /// - Parameters:
    ///   - program: path of a program that begins with `meant(by:)`.
    ///   - mountpoint: absolute path of the mount.
    package init(program: String, mountpoint: String) {
        self.program = program
        self.mountpoint = mountpoint
    }

    /// What this process is to be, by its arguments; nil where it is something else.
    package static func meant(by arguments: [String]) -> VoiceProgram? {
        guard arguments.count == 3, arguments[1] == word else { return nil }
        return VoiceProgram(program: arguments[0], mountpoint: arguments[2])
    }

    /// Starts the process, with a process group of its own: what a terminal sends the daemon is not meant for it.
    ///
    /// - Returns: the process, and this end of its channel. The errno otherwise.
    func start() -> Result<(process: pid_t, channel: Descriptor), DriverError> {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return .failure(.last())
        }
        let (ours, theirs) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
        let words = ["quire", Self.word, mountpoint]
        let copies: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let arguments: [UnsafePointer<CChar>?] = copies.map { $0.map { UnsafePointer($0) } } + [nil]
        let process = quire_spawn_on_channel(program, arguments, theirs.raw)
        withExtendedLifetime(theirs) {}
        return process > 0 ? .success((process, ours)) : .failure(DriverError(-process))
    }

    /// What the process does: one call after another, until the daemon has ended. Returns its exit code.
    package func run() -> CInt {
        _ = quire_name_thread("quire-voice")
        guard chdir("/") == 0 else { return 1 }
        var known: UInt64?
        var buffer = [UInt8](repeating: 0, count: VoiceCall.longest)
        while true {
            let count = recv(0, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return 0 }
            guard let call = VoiceCall(buffer[..<count]) else { return 1 }
            var answer = perform(call, &known)
            guard send(0, &answer, MemoryLayout<CInt>.size, CInt(MSG_NOSIGNAL)) > 0 else { return 0 }
        }
    }

    /// Makes a call on the mount that was greeted, and on no other that may be at the same place by now.
    ///
    /// The mount is opened for the time of the call only: it can be unmounted in between.
    /// - Parameter known: the device of the mount.
    /// - Returns: 0, or the errno.
    private func perform(_ call: VoiceCall, _ known: inout UInt64?) -> CInt {
        var device: UInt64 = 0
        let raw = quire_open_mount(mountpoint, &device)
        guard raw >= 0 else { return errno }
        let root = Descriptor(owning: raw)
        if case .greet(let name) = call {
            var status = stat()
            let found = name.withCString { fstatat(root.raw, $0, &status, AT_SYMLINK_NOFOLLOW) }
            known = device
            return found != 0 && errno == ENOENT ? 0 : EEXIST
        }
        guard device == known else { return EXDEV }
        do throws(DriverError) {
            try StoreCall.check(try Self.perform(call, below: root))
            return 0
        } catch {
            return error.errno
        }
    }

    private static func perform(_ call: VoiceCall, below root: Descriptor) throws(DriverError) -> CInt {
        switch call {
        case .greet: return 0
        case .rename(let from, let source, let to, let target):
            let old = try open(from, below: root)
            let new = from == to ? old : try open(to, below: root)
            return source.withCString { source in
                target.withCString { target in quire_renameat2(old.raw, source, new.raw, target, 0) }
            }
        case .remove(let path, let name, let isDirectory):
            let directory = try open(path, below: root)
            return name.withCString { unlinkat(directory.raw, $0, isDirectory ? AT_REMOVEDIR : 0) }
        case .makeDirectory(let path, let name):
            let directory = try open(path, below: root)
            return name.withCString { mkdirat(directory.raw, $0, 0o700) }
        }
    }

    private static func open(_ path: RelativePath, below root: Descriptor) throws(DriverError) -> Descriptor {
        if path.isRoot { return root }
        let raw = FileName(unchecked: path.bytes).withCString { quire_open_beneath(root.raw, $0) }
        guard raw >= 0 else { throw DriverError.last() }
        return Descriptor(owning: raw)
    }
}
