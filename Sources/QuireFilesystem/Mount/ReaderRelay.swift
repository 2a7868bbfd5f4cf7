import QuireCore
import Synchronization

/// Who of the reader threads reads: one does, the others stand by.
///
/// One thread that never sleeps between two requests serves more of them than two that wake each other. So that nothing has
/// to wait behind a request that takes long after all (a disk that stalls, a huge file that is removed), one of the others
/// looks each millisecond whether the reader gets on, and reads in its stead where it does not. It sleeps while there is
/// nothing to do.
///
///     reader   serves ── serves ── serves a slow one ……………………………………… answers, stands by
///     watcher    ·    ·     ·    ·    · (the same one still) ── serves ── serves …
final class ReaderRelay: @unchecked Sendable {
    // Guarded by `monitor`: `watcher`, `isStopped`.
    private let monitor = ThreadMonitor(conditions: 2)
    /// Who stands by waits in one of these: the watcher, and all others.
    private static let watching = 0
    private static let standing = 1
    private var watcher: Int?
    private var isStopped = false
    /// Set when the watcher sleeps until somebody wakes it.
    private let watcherSleeps = Atomic<Bool>(false)
    /// The reader's number (upper 16 bits), how many requests were begun, and (lowest bit) whether one is being served.
    private let state = Atomic<UInt64>(0)

    private static let watchMilliseconds = 1
    /// After so many looks at an idle reader the watcher sleeps.
    private static let idleLooks = 50

    /// The reader has got a request and begins to serve it. Thread 0 is the first reader.
    func begin() {
        // Nobody else changes the state while no request is being served.
        state.store(state.load(ordering: .relaxed) &+ 3, ordering: .sequentiallyConsistent)
        guard watcherSleeps.load(ordering: .sequentiallyConsistent) else { return }
        monitor.locked {
            watcherSleeps.store(false, ordering: .relaxed)
            monitor.signal(Self.watching)
        }
    }

    /// The request is served. False when another thread reads by now: this one stands by.
    func end(_ number: Int) -> Bool {
        let current = state.load(ordering: .relaxed)
        guard Self.reader(current) == number else { return false }
        return state.compareExchange(expected: current, desired: current & ~1, ordering: .relaxed).exchanged
    }

    /// Waits until thread `number` is to read. False when reading is over.
    func waitForTurn(_ number: Int) -> Bool {
        monitor.locked {
            while !isStopped {
                if Self.reader(state.load(ordering: .relaxed)) == number { return true }
                if watcher == nil {
                    watcher = number
                    let hasTakenOver = watch(number)
                    watcher = nil
                    monitor.signal(Self.standing)
                    if hasTakenOver { return true }
                } else {
                    monitor.wait(Self.standing)
                }
            }
            return false
        }
    }

    /// Nobody reads any more.
    func stop() {
        monitor.locked {
            isStopped = true
            monitor.broadcast(Self.watching)
            monitor.broadcast(Self.standing)
        }
    }

    /// Looks whether the reader gets on until it does not, and takes over then. False when reading is over.
    private func watch(_ number: Int) -> Bool {
        var last: UInt64?
        var looks = 0
        while !isStopped {
            let current = state.load(ordering: .sequentiallyConsistent)
            if current == last, current & 1 == 1 {
                let mine = UInt64(number) << 48 | (current & ~1) & (1 << 48 - 1)
                if state.compareExchange(expected: current, desired: mine, ordering: .relaxed).exchanged { return true }
            }
            looks = current == last ? looks + 1 : 0
            last = current
            if looks < Self.idleLooks {
                sleepShortly()
            } else {
                sleepUntilWoken(current)
                looks = 0
            }
        }
        return false
    }

    private func sleepShortly() {
        _ = monitor.wait(Self.watching, until: ThreadMonitor.deadline(milliseconds: Self.watchMilliseconds))
    }

    private func sleepUntilWoken(_ seen: UInt64) {
        watcherSleeps.store(true, ordering: .sequentiallyConsistent)
        // The reader looks at the flag after it has changed the state: one of the two sees the other.
        guard state.load(ordering: .sequentiallyConsistent) == seen else {
            watcherSleeps.store(false, ordering: .relaxed)
            return
        }
        while watcherSleeps.load(ordering: .relaxed), !isStopped { monitor.wait(Self.watching) }
    }

    private static func reader(_ state: UInt64) -> Int { Int(state >> 48) }
}
