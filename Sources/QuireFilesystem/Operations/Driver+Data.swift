import CFuse
import CLinux
import Glibc
import QuireCoordination
import QuireCore
import Synchronization

extension Driver {
    /// READ, where the kernel does not read by itself.
    func read(_ reply: consuming Reply, _ file: OpenFile, _ size: Int, _ offset: off_t) {
        if let arrival = file.arrival, arrival.settled == nil { return read(reply, file, arrival, size, offset) }
        let descriptor = file.descriptor
        Self.read(reply, descriptor.raw, size, offset)
        withExtendedLifetime(descriptor) {}
    }

    static func read(_ reply: consuming Reply, _ descriptor: CInt, _ size: Int, _ offset: off_t) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, 1), alignment: 16)
        defer { buffer.deallocate() }
        var count = 0
        while count < size {
            let part = pread(
                descriptor, buffer.baseAddress?.advanced(by: count), size - count, offset + off_t(count))
            if part < 0, errno == EINTR { continue }
            if part < 0, count == 0 { return reply.error(errno) }
            if part <= 0 { break }
            count += part
        }
        reply.data(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    /// WRITE, where the kernel does not write by itself.
    ///
    /// - Parameter kind: who waits for it, and for what.
    func write(
        _ reply: consuming Reply, _ file: OpenFile, _ bytes: UnsafeRawBufferPointer, _ offset: off_t, _ kind: WriteKind
    ) {
        if kind != .delayed, let claim = file.claim, claim.hasEnded, mustAskCoordinator,
            services.coordinator.pass(for: accesses(writing: file.node)) == nil
        {
            return resume(claim, reply, file, Array(bytes), offset, kind)
        }
        performWrite(reply, file, bytes, offset, kind)
    }

    /// A handle that had come to rest writes again: it takes its claim again first.
    private func resume(
        _ claim: HeldClaim, _ reply: consuming Reply, _ file: OpenFile, _ bytes: [UInt8], _ offset: off_t,
        _ kind: WriteKind
    ) {
        coordinated(reply, accesses(writing: file.node)) { driver, reply, renewed in
            if let renewed { claim.resume(with: renewed) }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
            defer { buffer.deallocate() }
            buffer.copyBytes(from: bytes)
            driver.performWrite(reply, file, UnsafeRawBufferPointer(buffer), offset, kind)
            driver.watch(file)
        }
    }

    private func performWrite(
        _ reply: consuming Reply, _ file: OpenFile, _ bytes: UnsafeRawBufferPointer, _ offset: off_t, _ kind: WriteKind
    ) {
        guard services.room.isLimited else { return store(reply, file, bytes, offset, kind) }
        let growth = growth(of: file.descriptor, to: offset + off_t(bytes.count))
        if kind == .delayed {
            // The program was told long ago that it is written.
            services.room.takeRegardless(growth)
        } else if !services.room.take(growth) {
            let bytes = Array(bytes)
            return admit(reply, growth) { driver, reply in
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
                defer { buffer.deallocate() }
                buffer.copyBytes(from: bytes)
                driver.store(reply, file, UnsafeRawBufferPointer(buffer), offset, kind)
            }
        }
        store(reply, file, bytes, offset, kind)
    }

    private func store(
        _ reply: consuming Reply, _ file: OpenFile, _ bytes: UnsafeRawBufferPointer, _ offset: off_t, _ kind: WriteKind
    ) {
        let caller = reply.caller
        let count = leavingTimes(of: file.descriptor) { Self.write(bytes, to: file.descriptor, at: offset) }
        guard count >= 0 else {
            let code = errno
            space.refused(code, at: MonotonicClock.now())
            return reply.error(code)
        }
        if caller.uid != 0, table.locked({ _ in file.node.mayHavePrivilegeBits }) {
            let stripped = Result { () throws(DriverError) -> Void in
                try stripPrivileges(of: file.node, file.descriptor, try StoreCall.status(of: file.descriptor), caller)
            }
            if case .failure(let error) = stripped { return reply.error(error.errno) }
        }
        guard kind == .durable else { return reply.written(count) }
        synchronize(reply, file, dataOnly: true) { reply in reply.written(count) }
    }

    /// - Returns: how many bytes were written; -1, with errno, where none could be.
    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Descriptor, at offset: off_t) -> Int {
        var count = 0
        while count < bytes.count {
            let part = pwrite(
                descriptor.raw, bytes.baseAddress?.advanced(by: count), bytes.count - count, offset + off_t(count))
            if part < 0, errno == EINTR { continue }
            if part < 0, count == 0 { return -1 }
            if part <= 0 { break }
            count += part
        }
        return count
    }

    /// Runs a change of a file's content. Where the kernel collects writes the file's mtime stays as it was: the kernel
    /// keeps the times then, sends those that changed itself, and takes no notice of others.
    ///
    /// - Returns: what `change` returned; errno is as `change` left it.
    func leavingTimes<Result>(of descriptor: Descriptor, _ change: () -> Result) -> Result {
        guard writesBack.load(ordering: .relaxed), let before = try? StoreCall.status(of: descriptor) else {
            return change()
        }
        let result = change()
        let code = errno
        let times = [timespec(tv_sec: 0, tv_nsec: AttributeChange.omitted), before.st_mtim]
        // It fails where the store has become read-only or is gone, which the change tells.
        futimens(descriptor.raw, times)
        errno = code
        return result
    }

    /// FSYNC. Returns when the store has it on disk; of who may have written with the times, also where only the content is asked
    /// for: after a loss of power nothing else tells that it is not what was sent to the provider (rule 6).
    ///
    /// - Parameter answer: what the program is told where it succeeded.
    func synchronize(
        _ reply: consuming Reply, _ file: OpenFile, dataOnly: Bool,
        answer: @escaping @Sendable (consuming Reply) -> Void = { reply in reply.error(0) }
    ) {
        synchronize(reply, file.descriptor, dataOnly: dataOnly && !file.isWriter) { [self] in
            guard file.isWriter else { return }
            gate.shared { reportIfChanged(file) }
            // What the kernel had collected takes blocks now.
            guard table.locked({ _ in file.node.dataPath == .cached }) else { return }
            notifier.attributesChanged(table.identifier(file.node))
        } answer: { reply in
            answer(reply)
        }
    }

    /// Answers when `descriptor` is on disk and what goes with it is done: on a thread of its own, unless the store is in
    /// memory, where there is nothing to wait for.
    func synchronize(
        _ reply: consuming Reply, _ descriptor: Descriptor, dataOnly: Bool, and finish: @escaping @Sendable () -> Void,
        answer: @escaping @Sendable (consuming Reply) -> Void
    ) {
        guard table.isOnDisk else { return Self.synchronize(reply, descriptor, dataOnly, finish, answer) }
        parking.offload(reply) { reply in Self.synchronize(reply, descriptor, dataOnly, finish, answer) }
    }

    private static func synchronize(
        _ reply: consuming Reply, _ descriptor: Descriptor, _ dataOnly: Bool, _ finish: () -> Void,
        _ answer: (consuming Reply) -> Void
    ) {
        let result = dataOnly ? fdatasync(descriptor.raw) : fsync(descriptor.raw)
        let code = errno
        finish()
        if result == 0 { answer(reply) } else { reply.error(code) }
    }

    /// FALLOCATE: reserve, punch, zero, collapse, as the store's file system can.
    func allocate(_ reply: consuming Reply, _ file: OpenFile, _ mode: CInt, _ offset: off_t, _ length: off_t) {
        let growth: Int
        switch mode & (Self.punchHole | Self.collapseRange | Self.insertRange) {
        // Even where the size stays as it is, blocks are taken beyond it.
        case 0: growth = self.growth(of: file.descriptor, to: offset + length)
        case Self.insertRange: growth = length
        default: growth = 0
        }
        admit(reply, growth) { driver, reply in driver.performAllocate(reply, file, mode, offset, length) }
    }

    // FALLOC_FL_… of <linux/falloc.h>, macros that Swift does not see.
    private static let punchHole: CInt = 0x02
    private static let collapseRange: CInt = 0x08
    private static let insertRange: CInt = 0x20

    private func performAllocate(
        _ reply: consuming Reply, _ file: OpenFile, _ mode: CInt, _ offset: off_t, _ length: off_t
    ) {
        let result = leavingTimes(of: file.descriptor) {
            quire_fallocate(file.descriptor.raw, mode, Int64(offset), Int64(length))
        }
        let code = errno
        // Where the size stays the kernel would take older attributes, of a listing that is under way, for newer than this.
        if result == 0 { notifier.attributesChanged(table.identifier(file.node)) }
        reply.error(result == 0 ? 0 : code)
    }

    /// LSEEK: SEEK_DATA and SEEK_HOLE only; the kernel answers the others.
    ///
    /// Pages written through a mapping are the kernel's alone until they are written back, which it does not do for this
    /// request: where it reads and writes through its cache, it is made to, lest a copy take data for a hole.
    func seek(_ reply: consuming Reply, _ file: OpenFile, _ offset: off_t, _ whence: CInt) {
        let node = file.node
        if let arrival = file.arrival, arrival.settled == nil {
            return Self.find(reply, in: arrival.content, offset, whence)
        }
        guard table.locked({ _ in node.writers > 0 && node.dataPath == .cached }) else {
            return find(reply, file, offset, whence)
        }
        // The pages come as WRITE requests, so never from a thread that reads requests.
        parking.offload(reply) { [self] reply in
            notifier.writeBack(table.identifier(node))
            find(reply, file, offset, whence)
        }
    }

    private func find(_ reply: consuming Reply, _ file: OpenFile, _ offset: off_t, _ whence: CInt) {
        let found = lseek(file.descriptor.raw, offset, whence)
        if found >= 0 { reply.position(found) } else { reply.error(errno) }
    }

    /// COPY_FILE_RANGE between two files of the drive.
    func copyRange(
        _ reply: consuming Reply, from source: OpenFile, _ sourceOffset: off_t, to target: OpenFile,
        _ targetOffset: off_t,
        _ length: Int
    ) {
        if let arrival = source.arrival, arrival.settled == nil {
            return copyRange(reply, from: source, arrival, sourceOffset, to: target, targetOffset, length)
        }
        // The answer has 32 bits.
        let length = min(length, 1 << 30)
        guard services.room.isLimited else { return copy(reply, source, sourceOffset, target, targetOffset, length) }
        let there = (try? StoreCall.status(of: source.descriptor)).map { max(0, $0.st_size - sourceOffset) } ?? 0
        let growth = growth(of: target.descriptor, to: targetOffset + min(off_t(length), there))
        admit(reply, growth) { driver, reply in
            driver.copy(reply, source, sourceOffset, target, targetOffset, length)
        }
    }

    private func copy(
        _ reply: consuming Reply, _ source: OpenFile, _ sourceOffset: off_t, _ target: OpenFile,
        _ targetOffset: off_t, _ length: Int
    ) {
        guard let status = try? StoreCall.status(of: source.descriptor),
            min(Int(status.st_size) - Int(sourceOffset), length) <= Self.shortCopy
        else {
            return parking.offload(reply) { [self] reply in
                performCopy(reply, source.descriptor.raw, sourceOffset, target, targetOffset, length)
            }
        }
        performCopy(reply, source.descriptor.raw, sourceOffset, target, targetOffset, length)
    }

    /// Copies up to this length are done at once: handing them to another thread takes longer.
    private static let shortCopy = 1 << 20

    func performCopy(
        _ reply: consuming Reply, _ source: CInt, _ sourceOffset: off_t, _ target: OpenFile, _ targetOffset: off_t,
        _ length: Int
    ) {
        var from = Int64(sourceOffset)
        var to = Int64(targetOffset)
        let count = leavingTimes(of: target.descriptor) {
            quire_copy_file_range(source, &from, target.descriptor.raw, &to, length)
        }
        if count >= 0 { reply.written(count) } else { reply.error(errno) }
    }
}
