import CFuse
import CLinux
import Glibc
import QuireCore
import Synchronization

/// Reading documents whose content comes as it is read.
extension Driver {
    /// Waits until a dataless file can be read, whole or as it arrives, then goes on.
    ///
    /// - Parameter operation: with the arriving content; nil where it is here.
    func parkForReading(
        _ reply: consuming Reply, _ node: Node,
        then operation: @escaping @Sendable (Driver, consuming Reply, (any ArrivingContent)?) -> Void
    ) {
        let arriving = ArrivingBox()
        let inode = directoryInode(node)
        parking.park(
            reply,
            until: { [self] () async throws(DriverError) in
                try await following(node) { (path) throws(MaterializeError) in
                    let content = try await services.content.open(path: path, inode: inode)
                    arriving.content = content
                    if content == nil { try await services.content.materialize(path: path, inode: inode) }
                }
            },
            then: { [self] reply in operation(self, reply, arriving.content) })
    }

    /// READ of a file that is still arriving: waits for these bytes alone.
    func read(_ reply: consuming Reply, _ file: OpenFile, _ arrival: Arrival, _ size: Int, _ offset: off_t) {
        let content = arrival.content
        let start = min(max(Int64(offset), 0), content.size)
        let range = start..<min(start + Int64(size), content.size)
        if content.isHere(range) { return Self.read(reply, content.descriptor, range) }
        parking.park(
            reply,
            until: { () async throws(DriverError) in
                do throws(MaterializeError) { try await content.bring(range) } catch { throw DriverError(error.errno) }
            },
            then: { reply in
                // Emptied meanwhile, perhaps.
                if let settled = arrival.settled {
                    Self.read(reply, settled.raw, range)
                } else {
                    Self.read(reply, content.descriptor, range)
                }
            })
    }

    private static func read(_ reply: consuming Reply, _ descriptor: CInt, _ range: Range<Int64>) {
        read(reply, descriptor, range.count, off_t(range.lowerBound))
    }

    /// LSEEK of a file that is still arriving: all of it counts as data.
    static func find(_ reply: consuming Reply, in content: any ArrivingContent, _ offset: off_t, _ whence: CInt) {
        guard offset >= 0, offset < content.size else { return reply.error(ENXIO) }
        reply.position(whence == quire_SEEK_HOLE ? off_t(content.size) : offset)
    }

    /// COPY_FILE_RANGE from a file that is still arriving: a part of what was asked for, once that is here.
    func copyRange(
        _ reply: consuming Reply, from source: OpenFile, _ arrival: Arrival, _ sourceOffset: off_t,
        to target: OpenFile, _ targetOffset: off_t, _ length: Int
    ) {
        let content = arrival.content
        let start = min(max(Int64(sourceOffset), 0), content.size)
        let end = min(start + Int64(min(length, Self.longestArrivingCopy)), content.size)
        parking.park(
            reply,
            until: { () async throws(DriverError) in
                do throws(MaterializeError) {
                    try await content.bring(start..<end)
                } catch {
                    throw DriverError(error.errno)
                }
            },
            then: { [self] reply in
                let growth = growth(of: target.descriptor, to: targetOffset + off_t(end - start))
                admit(reply, growth) { driver, reply in
                    let settled = arrival.settled
                    driver.performCopy(
                        reply, settled?.raw ?? content.descriptor, off_t(start), target, targetOffset, Int(end - start))
                    withExtendedLifetime((settled, content)) {}
                }
            })
    }

    private static let longestArrivingCopy = 16 << 20

    /// The open handles of a node that read what arrives: their file is emptied now, so they read that.
    func settleArrivals(of node: Node) {
        let files = table.locked { _ in node.files.filter { $0.arrival != nil } }
        for file in files { file.arrival?.settle(at: file.opened) }
    }
}

/// Carries what was waited for to where it is used.
private final class ArrivingBox: Sendable {
    /// Innermost lock.
    private let value = Lock<(any ArrivingContent)?>(nil)

    var content: (any ArrivingContent)? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
