import Dispatch
import Glibc
import Synchronization

@testable import QuireIndex
@testable import QuireCore

/// Has looking at the store fail, for root as well.
final class StoreFaults: Sendable {
    /// The errno of each name that cannot be looked at, and of each directory that cannot be opened.
    private let errors = Lock<(status: [String: Int32], open: [String: Int32])>(([:], [:]))
    /// The errno of marking any file.
    private let marking = Lock<Int32?>(nil)
    /// What was written through, whole file systems among it, and the errno of doing so.
    private let writing = Lock<(isWhole: [Bool], error: Int32?)>(([], nil))
    /// When given, each writing through waits for a signal.
    private let held = Lock<DispatchSemaphore?>(nil)
    /// Each time that something is about to be written through.
    let writings: AsyncStream<Void>
    private let written: AsyncStream<Void>.Continuation
    /// What is done before a directory is opened, once.
    private let before = Lock<[String: OpeningAction]>([:])
    private let opened = Lock<[String: Int]>([:])
    /// Each time that marking a file failed.
    let refusals: AsyncStream<Void>
    private let refused: AsyncStream<Void>.Continuation

    init() {
        (refusals, refused) = AsyncStream.makeStream()
        (writings, written) = AsyncStream.makeStream()
    }

    var calls: StoreCalls {
        let plain = StoreCalls()
        var calls = StoreCalls()
        calls.status = { [self] directory, name, status in
            fails(errors.withLock { $0.status[String(cString: name)] }) ?? plain.status(directory, name, status)
        }
        calls.open = { [self] directory, name in
            opened.withLock { $0[String(cString: name), default: 0] += 1 }
            before.withLock { $0.removeValue(forKey: String(cString: name)) }?.body()
            return fails(errors.withLock { $0.open[String(cString: name)] }) ?? plain.open(directory, name)
        }
        calls.setMark = { [self] file, value in
            var status = stat()
            let isClosed = fstat(file, &status) == 0 && status.st_mode & S_IWUSR == 0
            guard let failure = fails(marking.withLock { $0 } ?? (isClosed ? EACCES : nil)) else {
                return plain.setMark(file, value)
            }
            refused.yield()
            return failure
        }
        calls.writeThrough = { [self] directory, isWhole in
            written.yield()
            held.withLock { $0 }?.wait()
            let error = writing.withLock { writing in
                writing.isWhole.append(isWhole)
                return writing.error
            }
            return fails(error) ?? plain.writeThrough(directory, isWhole)
        }
        return calls
    }

    private func fails(_ error: Int32?) -> Int32? {
        guard let error else { return nil }
        errno = error
        return -1
    }

    /// What has one of these names, in any directory, cannot be looked at.
    func hide(_ names: String..., error: Int32) {
        errors.withLock { errors in for name in names { errors.status[name] = error } }
    }

    /// Directories with this name cannot be opened.
    func lock(_ name: String, error: Int32) { errors.withLock { $0.open[name] = error } }

    /// No file can be marked as a placeholder. One that nobody may write to never can, as for who is not root.
    func refuseMarks(error: Int32) { marking.withLock { $0 = error } }

    /// Nothing can be written through to the disk.
    func refuseWriting(error: Int32) { writing.withLock { $0.error = error } }

    /// Writing through waits until a signal.
    func holdWriting(_ signal: DispatchSemaphore?) { held.withLock { $0 = signal } }

    /// What was written through so far: whether it was the whole file system.
    var writtenThrough: [Bool] { writing.withLock { $0.isWhole } }

    /// Does something right before the next directory with this name is opened.
    func beforeOpening(_ name: String, _ body: @escaping @Sendable () -> Void) {
        before.withLock { $0[name] = OpeningAction(body: body) }
    }

    private struct OpeningAction {
        var body: @Sendable () -> Void
    }

    /// How often directories with this name were opened.
    func openings(of name: String) -> Int { opened.withLock { $0[name] ?? 0 } }

    /// All is well again.
    func end() {
        errors.withLock { $0 = ([:], [:]) }
        marking.withLock { $0 = nil }
        writing.withLock { $0.error = nil }
    }
}
