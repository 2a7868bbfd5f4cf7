import CFuse
import Glibc
import QuireCore

/// The limits on what programs may add to the drive. Without any, nothing here costs more than one atomic load.
extension Driver {
    /// Takes room for a file that grows, then performs the operation; where there is none it is looked for first, away from
    /// the readers. The answer is ENOSPC where none is found.
    ///
    /// - Parameter bytes: by how much it grows; with 0 or less, nothing is taken.
    func admit(
        _ reply: consuming Reply, _ bytes: Int, then operation: @escaping @Sendable (Driver, consuming Reply) -> Void
    ) {
        if services.room.take(bytes) { return operation(self, reply) }
        let room = services.room
        parking.park(
            reply, until: { () async throws(DriverError) in await room.lookAgain(for: bytes) },
            then: { [self] reply in
                if room.take(bytes) { operation(self, reply) } else { reply.error(ENOSPC) }
            })
    }

    /// The same before a new file: there must be room for anything at all.
    func admitNewFile(
        _ reply: consuming Reply, then operation: @escaping @Sendable (Driver, consuming Reply) -> Void
    ) {
        guard services.room.isFull else { return operation(self, reply) }
        let room = services.room
        parking.park(
            reply, until: { () async throws(DriverError) in await room.lookAgain(for: 0) },
            then: { [self] reply in
                if room.isFull { reply.error(ENOSPC) } else { operation(self, reply) }
            })
    }

    /// By how many bytes a file grows that is to reach to `end`; 0 where nobody counts.
    func growth(of descriptor: Descriptor, to end: off_t) -> Int {
        guard services.room.isLimited, let status = try? StoreCall.status(of: descriptor) else { return 0 }
        return max(0, end - status.st_size)
    }

    /// What of a file system's room is left under the drive's limit, and at its provider.
    func limited(_ space: statvfs) -> statvfs {
        let (limit, provider) = (services.room.report, services.room.providerLeft)
        guard limit != nil || provider != nil, space.f_frsize > 0 else { return space }
        var space = space
        let unit = fsblkcnt_t(space.f_frsize)
        space.f_bavail = min(space.f_bavail, fsblkcnt_t(min(limit?.left ?? .max, provider ?? .max)) / unit)
        if let whole = limit?.whole {
            space.f_blocks = min(space.f_blocks, max(fsblkcnt_t(whole) / unit, space.f_bavail))
        }
        // What is kept for root is none of the drive's.
        space.f_bfree = space.f_bavail
        return space
    }
}
