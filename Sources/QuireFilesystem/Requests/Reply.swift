import CFuse
import Glibc

/// The duty to answer one kernel request, exactly once.
///
/// Every answer consumes it; dropped without one, it answers EIO. May be consumed on any thread, with no lock held.
struct Reply: ~Copyable, @unchecked Sendable {
    // libfuse's request may be answered from any thread; nobody else holds the pointer.
    private let request: fuse_req_t

    init(_ request: fuse_req_t) { self.request = request }

    deinit { fuse_reply_err(request, EIO) }

    /// Who asks: user, group, process.
    var caller: Caller {
        guard let context = fuse_req_ctx(request) else { return Caller(uid: 0, gid: 0, pid: 0) }
        return Caller(uid: context.pointee.uid, gid: context.pointee.gid, pid: context.pointee.pid)
    }

    /// Calls `handler` once when the program was interrupted (a signal), perhaps at once, with `ticket`.
    func whenInterrupted(_ handler: fuse_interrupt_func_t, ticket: UInt) {
        fuse_req_interrupt_func(request, handler, UnsafeMutableRawPointer(bitPattern: ticket))
    }

    /// 0 for success, else an errno.
    consuming func error(_ errno: CInt) {
        fuse_reply_err(request, errno)
        discard self
    }

    consuming func attributes(_ shown: ShownAttributes) {
        var status = shown.status
        fuse_reply_attr(request, &status, shown.timeoutSeconds)
        discard self
    }

    /// - Returns: false when the kernel did not take the answer, so that it does not know the node.
    consuming func entry(_ id: UInt64, _ shown: ShownAttributes) -> Bool {
        var entry = Self.entry(id, shown)
        let result = fuse_reply_entry(request, &entry)
        discard self
        return result == 0
    }

    /// As `entry`; the kernel keeps neither the name nor the attributes.
    consuming func passingEntry(_ id: UInt64, _ status: stat) -> Bool {
        var entry = Self.entry(id, ShownAttributes(status: status, mayBeKept: false))
        entry.entry_timeout = 0
        let result = fuse_reply_entry(request, &entry)
        discard self
        return result == 0
    }

    /// There is no such name, and the kernel may remember that.
    consuming func noEntry() {
        var entry = fuse_entry_param()
        entry.entry_timeout = ShownAttributes.longTimeoutSeconds
        fuse_reply_entry(request, &entry)
        discard self
    }

    /// - Returns: as `entry`: false when the handle was not taken.
    consuming func opened(_ handle: UInt64, flags: UInt32, backing: CInt) -> Bool {
        let result = cfuse_reply_open(request, handle, flags, backing)
        discard self
        return result == 0
    }

    consuming func created(
        _ id: UInt64, _ shown: ShownAttributes, handle: UInt64, flags: UInt32, backing: CInt
    ) -> Bool {
        var entry = Self.entry(id, shown)
        let result = cfuse_reply_create(request, &entry, handle, flags, backing)
        discard self
        return result == 0
    }

    consuming func data(_ bytes: UnsafeRawBufferPointer) {
        fuse_reply_buf(request, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        discard self
    }

    consuming func data(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes {
            _ = fuse_reply_buf(request, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
        }
        discard self
    }

    consuming func written(_ count: Int) {
        fuse_reply_write(request, count)
        discard self
    }

    consuming func link(_ target: UnsafePointer<CChar>) {
        fuse_reply_readlink(request, target)
        discard self
    }

    consuming func attributeSize(_ count: Int) {
        fuse_reply_xattr(request, count)
        discard self
    }

    consuming func space(_ status: statvfs) {
        var status = status
        fuse_reply_statfs(request, &status)
        discard self
    }

    consuming func position(_ offset: off_t) {
        fuse_reply_lseek(request, offset)
        discard self
    }

    /// FORGET has no answer.
    consuming func none() {
        fuse_reply_none(request)
        discard self
    }

    /// For directory listings, which libfuse lays out with the request at hand.
    borrowing func addEntry(
        _ buffer: UnsafeMutablePointer<CChar>, _ room: Int, _ name: UnsafePointer<CChar>, _ id: UInt64,
        _ shown: ShownAttributes,
        next: off_t, withAttributes: Bool
    ) -> Int {
        if withAttributes {
            var entry = Self.entry(id, shown)
            return fuse_add_direntry_plus(request, buffer, room, name, &entry, next)
        }
        var status = shown.status
        return fuse_add_direntry(request, buffer, room, name, &status, next)
    }

    private static func entry(_ id: UInt64, _ shown: ShownAttributes) -> fuse_entry_param {
        var entry = fuse_entry_param()
        entry.ino = fuse_ino_t(id)
        entry.attr = shown.status
        entry.attr_timeout = shown.timeoutSeconds
        entry.entry_timeout = ShownAttributes.longTimeoutSeconds
        return entry
    }
}

/// Who sent a request.
struct Caller: Sendable {
    let uid: uid_t
    let gid: gid_t
    let pid: pid_t
}
