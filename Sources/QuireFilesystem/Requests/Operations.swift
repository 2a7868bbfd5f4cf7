import CFuse
import Glibc
import QuireCore
import Synchronization

/// The table that libfuse calls: each entry turns C arguments into the driver's, and no more.
///
/// Locks (flock, fcntl) are left to the kernel: one machine mounts the drive, and the kernel knows all its programs.
/// ioctl, poll and bmap are answered by the kernel too.
enum Operations {
    static func table() -> fuse_lowlevel_ops {
        var table = fuse_lowlevel_ops()
        addConnection(&table)
        addNames(&table)
        addFiles(&table)
        addDirectories(&table)
        addAttributes(&table)
        return table
    }

    private static func addConnection(_ table: inout fuse_lowlevel_ops) {
        table.`init` = { session, connection in
            guard let session, let connection else { return }
            // The driver strips setuid and setgid itself, by the newer protocol that the shim asks for.
            connection.pointee.want &= ~UInt32(FUSE_CAP_HANDLE_KILLPRIV)
            connection.pointee.max_background = 64
            connection.pointee.congestion_threshold = 48
            let shim = session.assumingMemoryBound(to: cfuse_session.self)
            guard let owner = shim.pointee.owner else { return }
            let passes = shim.pointee.want_passthrough && shim.pointee.offered_passthrough
            // The two exclude each other.
            let driver = Unmanaged<Driver>.fromOpaque(owner).takeUnretainedValue()
            let writesBack =
                driver.collectsWrites && !passes
                && connection.pointee.capable & UInt32(FUSE_CAP_WRITEBACK_CACHE) != 0
            if writesBack { connection.pointee.want |= UInt32(FUSE_CAP_WRITEBACK_CACHE) }
            driver.passthroughAllowed.store(passes, ordering: .relaxed)
            driver.writesBack.store(writesBack, ordering: .relaxed)
        }
        table.statfs = { request, _ in serve(request) { driver, reply in driver.space(reply) } }
        table.forget = { request, node, count in
            serve(request) { driver, reply in
                driver.table.forget(driver.table.node(UInt64(node)), count)
                reply.none()
            }
        }
        table.forget_multi = { request, count, forgets in
            serve(request) { driver, reply in
                for forget in UnsafeBufferPointer(start: forgets, count: count) {
                    driver.table.forget(driver.table.node(forget.ino), forget.nlookup)
                }
                reply.none()
            }
        }
    }

    private static func addNames(_ table: inout fuse_lowlevel_ops) {
        table.lookup = { request, parent, name in
            serve(request, parent, name) { driver, reply, end in driver.lookUp(reply, end.directory, end.name) }
        }
        table.mknod = { request, parent, name, mode, device in
            serve(request, parent, name) { driver, reply, end in
                driver.makeNode(reply, end.directory, end.name, mode, device)
            }
        }
        table.mkdir = { request, parent, name, mode in
            serve(request, parent, name) { driver, reply, end in
                driver.makeDirectory(reply, end.directory, end.name, mode)
            }
        }
        table.symlink = { request, target, parent, name in
            serve(request, parent, name) { driver, reply, end in
                guard let target else { return reply.error(EINVAL) }
                let bytes = Array(UnsafeBufferPointer(start: target, count: strlen(target) + 1))
                driver.makeSymlink(reply, end.directory, end.name, target: bytes)
            }
        }
        table.unlink = { request, parent, name in
            serve(request, parent, name) { driver, reply, end in
                driver.remove(reply, end.directory, end.name, isDirectory: false)
            }
        }
        table.rmdir = { request, parent, name in
            serve(request, parent, name) { driver, reply, end in
                driver.remove(reply, end.directory, end.name, isDirectory: true)
            }
        }
        table.rename = { request, parent, name, newParent, newName, flags in
            serve(request, parent, name) { driver, reply, source in
                guard let newName else { return reply.error(EINVAL) }
                let target = Entry(directory: driver.table.node(UInt64(newParent)), name: FileName(kernel: newName))
                driver.rename(reply, source, target, flags)
            }
        }
        table.link = { request, node, parent, name in
            serve(request, parent, name) { driver, reply, end in
                driver.link(reply, driver.table.node(UInt64(node)), end.directory, end.name)
            }
        }
        table.readlink = { request, node in serve(request, node) { driver, reply, node in driver.readLink(reply, node) }
        }
    }

    private static func addFiles(_ table: inout fuse_lowlevel_ops) {
        table.create = { request, parent, name, mode, info in
            serve(request, parent, name) { driver, reply, end in
                guard let info else { return reply.error(EINVAL) }
                if end.name.bytes == [0x2F] {
                    return driver.createNameless(reply, end.directory, mode, info.pointee.flags)
                }
                driver.create(reply, end.directory, end.name, mode, info.pointee.flags)
            }
        }
        table.open = { request, node, info in
            serve(request, node) { driver, reply, node in
                guard let info else { return reply.error(EINVAL) }
                driver.open(reply, node, info.pointee.flags)
            }
        }
        table.release = { request, _, info in
            serve(request) { driver, reply in driver.release(reply, info?.pointee.fh ?? 0) }
        }
        table.read = { request, _, size, offset, info in
            serve(request, file: info) { driver, reply, file in driver.read(reply, file, size, offset) }
        }
        table.write = { request, _, bytes, size, offset, info in
            serve(request, file: info) { driver, reply, file in
                driver.write(
                    reply, file, UnsafeRawBufferPointer(start: bytes, count: size), offset, WriteKind(info, file))
            }
        }
        table.flush = { request, _, info in
            serve(request, file: info) { driver, reply, file in driver.flush(reply, file) }
        }
        table.fsync = { request, _, dataOnly, info in
            serve(request, file: info) { driver, reply, file in
                driver.synchronize(reply, file, dataOnly: dataOnly != 0)
            }
        }
        table.fallocate = { request, _, mode, offset, length, info in
            serve(request, file: info) { driver, reply, file in driver.allocate(reply, file, mode, offset, length) }
        }
        table.lseek = { request, _, offset, whence, info in
            serve(request, file: info) { driver, reply, file in driver.seek(reply, file, offset, whence) }
        }
        table.copy_file_range = { request, _, fromOffset, fromInfo, _, toOffset, toInfo, length, _ in
            serve(request, file: toInfo) { driver, reply, target in
                guard let source = fromInfo.flatMap({ OpenFile.borrowed($0.pointee.fh) }) else {
                    return reply.error(EBADF)
                }
                driver.copyRange(reply, from: source, fromOffset, to: target, toOffset, length)
            }
        }
    }

    private static func addDirectories(_ table: inout fuse_lowlevel_ops) {
        table.opendir = { request, _, _ in serve(request) { driver, reply in driver.openDirectory(reply) } }
        table.readdir = { request, node, size, offset, _ in
            serve(request, node) { driver, reply, directory in
                driver.list(reply, directory, size, offset, withAttributes: false)
            }
        }
        table.readdirplus = { request, node, size, offset, _ in
            serve(request, node) { driver, reply, directory in
                driver.list(reply, directory, size, offset, withAttributes: true)
            }
        }
        table.fsyncdir = { request, node, _, _ in
            serve(request, node) { driver, reply, directory in driver.synchronize(reply, directory) }
        }
    }

    private static func addAttributes(_ table: inout fuse_lowlevel_ops) {
        table.getattr = { request, node, _ in
            serve(request, node) { driver, reply, node in driver.attributes(reply, node) }
        }
        table.setattr = { request, node, attributes, set, info in
            serve(request, node) { driver, reply, node in
                guard let attributes else { return reply.error(EINVAL) }
                driver.setAttributes(
                    reply, node, AttributeChange(attributes.pointee, set),
                    info.flatMap { OpenFile.borrowed($0.pointee.fh) })
            }
        }
        table.access = { request, node, mask in
            serve(request, node) { driver, reply, node in driver.access(reply, node, mask) }
        }
        table.getxattr = { request, node, name, size in
            serve(request, node) { driver, reply, node in
                guard let name else { return reply.error(EINVAL) }
                if driver.isKnownAbsent(name, node) { return reply.error(ENODATA) }
                driver.extendedAttribute(reply, node, AttributeName(kernel: name), size)
            }
        }
        table.listxattr = { request, node, size in
            serve(request, node) { driver, reply, node in driver.listExtendedAttributes(reply, node, size) }
        }
        table.setxattr = { request, node, name, value, size, flags in
            serve(request, node) { driver, reply, node in
                guard let name else { return reply.error(EINVAL) }
                let value = Array(UnsafeRawBufferPointer(start: value, count: size))
                driver.setExtendedAttribute(reply, node, AttributeName(kernel: name), value, flags)
            }
        }
        table.removexattr = { request, node, name in
            serve(request, node) { driver, reply, node in
                guard let name else { return reply.error(EINVAL) }
                driver.setExtendedAttribute(reply, node, AttributeName(kernel: name), nil, 0)
            }
        }
    }
}

// Free functions, because C function pointers cannot capture even a type.

private func serve(_ request: fuse_req_t?, _ body: (Driver, consuming Reply) -> Void) {
    guard let request else { return }
    body(Driver.of(request), Reply(request))
}

private func serve(_ request: fuse_req_t?, _ node: fuse_ino_t, _ body: (Driver, consuming Reply, Node) -> Void) {
    serve(request) { driver, reply in body(driver, reply, driver.table.node(UInt64(node))) }
}

private func serve(
    _ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?,
    _ body: (Driver, consuming Reply, Entry) -> Void
) {
    serve(request, parent) { driver, reply, directory in
        guard let name else { return reply.error(EINVAL) }
        body(driver, reply, Entry(directory: directory, name: FileName(kernel: name)))
    }
}

private func serve(
    _ request: fuse_req_t?, file info: UnsafeMutablePointer<fuse_file_info>?,
    _ body: (Driver, consuming Reply, OpenFile) -> Void
) {
    serve(request) { driver, reply in
        guard let file = info.flatMap({ OpenFile.borrowed($0.pointee.fh) }) else { return reply.error(EBADF) }
        body(driver, reply, file)
    }
}
