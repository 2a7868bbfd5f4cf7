import CFuse
import Glibc
import QuireCore

/// The table that libfuse calls: each entry turns C arguments into the driver's, and no more.
///
/// Locks (flock, fcntl) are left to the kernel: one machine mounts the drive, and the kernel knows all its programs.
/// ioctl, poll, bmap and access are answered by the kernel too.
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
        table.`init` = { owner, connection in
            guard let connection else { return }
            // The driver strips setuid and setgid itself, by the newer protocol that the shim asks for.
            connection.pointee.want &= ~UInt32(FUSE_CAP_HANDLE_KILLPRIV)
            connection.pointee.max_background = 64
            connection.pointee.congestion_threshold = 48
            guard let owner else { return }
            let session = owner.assumingMemoryBound(to: cfuse_session.self)
            guard let driver = session.pointee.owner else { return }
            Unmanaged<Driver>.fromOpaque(driver).takeUnretainedValue()
                .passthroughAllowed.store(session.pointee.want_passthrough, ordering: .relaxed)
        }
        table.statfs = { request, _ in Driver.of(request!).space(Reply(request!)) }
    }

    private static func addNames(_ table: inout fuse_lowlevel_ops) {
        table.lookup = { request, parent, name in
            let driver = Driver.of(request!)
            driver.lookUp(Reply(request!), driver.table.node(parent), FileName(kernel: name!))
        }
        table.forget = { request, node, count in
            let driver = Driver.of(request!)
            driver.table.forget(driver.table.node(node), count)
            Reply(request!).none()
        }
        table.forget_multi = { request, count, forgets in
            let driver = Driver.of(request!)
            for forget in UnsafeBufferPointer(start: forgets, count: count) {
                driver.table.forget(driver.table.node(forget.ino), forget.nlookup)
            }
            Reply(request!).none()
        }
        table.mknod = { request, parent, name, mode, device in
            let driver = Driver.of(request!)
            driver.makeNode(Reply(request!), driver.table.node(parent), FileName(kernel: name!), mode, device)
        }
        table.mkdir = { request, parent, name, mode in
            let driver = Driver.of(request!)
            driver.makeDirectory(Reply(request!), driver.table.node(parent), FileName(kernel: name!), mode)
        }
        table.symlink = { request, target, parent, name in
            let driver = Driver.of(request!)
            let target = Array(UnsafeBufferPointer(start: target, count: strlen(target!) + 1))
            driver.makeSymlink(Reply(request!), driver.table.node(parent), FileName(kernel: name!), target: target)
        }
        table.unlink = { request, parent, name in
            let driver = Driver.of(request!)
            driver.remove(Reply(request!), driver.table.node(parent), FileName(kernel: name!), isDirectory: false)
        }
        table.rmdir = { request, parent, name in
            let driver = Driver.of(request!)
            driver.remove(Reply(request!), driver.table.node(parent), FileName(kernel: name!), isDirectory: true)
        }
        table.rename = { request, parent, name, newParent, newName, flags in
            let driver = Driver.of(request!)
            driver.rename(
                Reply(request!), RenameEnd(directory: driver.table.node(parent), name: FileName(kernel: name!)),
                RenameEnd(directory: driver.table.node(newParent), name: FileName(kernel: newName!)), flags)
        }
        table.link = { request, node, parent, name in
            let driver = Driver.of(request!)
            driver.link(Reply(request!), driver.table.node(node), driver.table.node(parent), FileName(kernel: name!))
        }
        table.readlink = { request, node in
            let driver = Driver.of(request!)
            driver.readLink(Reply(request!), driver.table.node(node))
        }
    }

    private static func addFiles(_ table: inout fuse_lowlevel_ops) {
        table.create = { request, parent, name, mode, info in
            let driver = Driver.of(request!)
            driver.create(
                Reply(request!), driver.table.node(parent), FileName(kernel: name!), mode, info!.pointee.flags)
        }
        table.open = { request, node, info in
            let driver = Driver.of(request!)
            driver.open(Reply(request!), driver.table.node(node), info!.pointee.flags)
        }
        table.read = { request, _, size, offset, info in
            withFile(request, info) { driver, reply, file in driver.read(reply, file, size, offset) }
        }
        table.write = { request, _, bytes, size, offset, info in
            withFile(request, info) { driver, reply, file in
                driver.write(reply, file, UnsafeRawBufferPointer(start: bytes, count: size), offset)
            }
        }
        table.flush = { request, _, info in withFile(request, info) { driver, reply, file in driver.flush(reply, file) } }
        table.release = { request, _, info in Driver.of(request!).release(Reply(request!), info!.pointee.fh) }
        table.fsync = { request, _, dataOnly, info in
            withFile(request, info) { driver, reply, file in driver.synchronize(reply, file, dataOnly: dataOnly != 0) }
        }
        table.fallocate = { request, _, mode, offset, length, info in
            withFile(request, info) { driver, reply, file in driver.allocate(reply, file, mode, offset, length) }
        }
        table.lseek = { request, _, offset, whence, info in
            withFile(request, info) { driver, reply, file in driver.seek(reply, file, offset, whence) }
        }
        table.copy_file_range = { request, _, fromOffset, fromInfo, _, toOffset, toInfo, length, _ in
            guard let source = OpenFile.borrowed(fromInfo!.pointee.fh) else { return Reply(request!).error(EBADF) }
            withFile(request, toInfo) { driver, reply, target in
                driver.copyRange(reply, from: source, fromOffset, to: target, toOffset, length)
            }
        }
    }

    private static func addDirectories(_ table: inout fuse_lowlevel_ops) {
        table.opendir = { request, node, _ in
            let driver = Driver.of(request!)
            driver.openDirectory(Reply(request!), driver.table.node(node))
        }
        table.readdir = { request, _, size, offset, info in
            withDirectory(request, info) { driver, reply, directory in
                driver.list(reply, directory, size, offset, withAttributes: false)
            }
        }
        table.readdirplus = { request, _, size, offset, info in
            withDirectory(request, info) { driver, reply, directory in
                driver.list(reply, directory, size, offset, withAttributes: true)
            }
        }
        table.releasedir = { request, _, info in
            OpenDirectory.release(info!.pointee.fh)
            Reply(request!).error(0)
        }
        table.fsyncdir = { request, _, _, info in
            withDirectory(request, info) { driver, reply, directory in driver.synchronize(reply, directory) }
        }
    }

    private static func addAttributes(_ table: inout fuse_lowlevel_ops) {
        table.getattr = { request, node, _ in
            let driver = Driver.of(request!)
            driver.attributes(Reply(request!), driver.table.node(node))
        }
        table.setattr = { request, node, attributes, set, info in
            let driver = Driver.of(request!)
            driver.setAttributes(
                Reply(request!), driver.table.node(node), AttributeChange(attributes!.pointee, set),
                info.flatMap { OpenFile.borrowed($0.pointee.fh) })
        }
        table.getxattr = { request, node, name, size in
            let driver = Driver.of(request!)
            driver.extendedAttribute(Reply(request!), driver.table.node(node), String(cString: name!), size)
        }
        table.listxattr = { request, node, size in
            let driver = Driver.of(request!)
            driver.listExtendedAttributes(Reply(request!), driver.table.node(node), size)
        }
        table.setxattr = { request, node, name, value, size, flags in
            let driver = Driver.of(request!)
            let value = Array(UnsafeRawBufferPointer(start: value, count: size))
            driver.setExtendedAttribute(
                Reply(request!), driver.table.node(node), String(cString: name!), value, flags)
        }
        table.removexattr = { request, node, name in
            let driver = Driver.of(request!)
            driver.setExtendedAttribute(Reply(request!), driver.table.node(node), String(cString: name!), nil, 0)
        }
    }

    private static func withFile(
        _ request: fuse_req_t?, _ info: UnsafeMutablePointer<fuse_file_info>?,
        _ body: (Driver, consuming Reply, OpenFile) -> Void
    ) {
        let reply = Reply(request!)
        guard let file = OpenFile.borrowed(info!.pointee.fh) else { return reply.error(EBADF) }
        body(Driver.of(request!), reply, file)
    }

    private static func withDirectory(
        _ request: fuse_req_t?, _ info: UnsafeMutablePointer<fuse_file_info>?,
        _ body: (Driver, consuming Reply, OpenDirectory) -> Void
    ) {
        let reply = Reply(request!)
        guard let directory = OpenDirectory.borrowed(info!.pointee.fh) else { return reply.error(EBADF) }
        body(Driver.of(request!), reply, directory)
    }
}
