import QuireCoordination
import QuireCore
import Synchronization
import Testing

@Suite("Coordinator")
struct CoordinatorTests {
    let clock = ManualClock()

    @Test("It is active while an explicit claim is held or waited for, and not for the mount's")
    func isActive() async throws {
        let coordinator = Coordinator(clock: clock)
        let mount = try #require(try coordinator.tryAcquire([.writing("X")], purpose: .mount))
        #expect(!coordinator.isActive && coordinator.hasClaims)
        let waiter = Task { try await coordinator.acquire([.reading("X")], purpose: Purpose("p")) }
        try await coordinator.untilWaiting(1)
        #expect(coordinator.isActive)
        coordinator.release(mount)
        let claim = try await waiter.value
        #expect(coordinator.isActive)
        coordinator.release(claim)
        #expect(!coordinator.isActive && !coordinator.hasClaims)
        coordinator.release(claim)
        #expect(coordinator.snapshot().isEmpty)
    }

    @Test("A trial that would have to wait gives nothing and leaves nothing")
    func trial() throws {
        let coordinator = Coordinator(clock: clock)
        let held = try #require(try coordinator.tryAcquire([.writing("X")], purpose: Purpose("p")))
        #expect(try coordinator.tryAcquire([.reading("X")], purpose: .mount) == nil)
        #expect(coordinator.snapshot().count == 1)
        coordinator.release(held)
        #expect(try coordinator.tryAcquire([.reading("X")], purpose: .mount) != nil)
    }

    @Test("Waiting past the deadline ends with .deadline, and the waiter is gone")
    func deadline() async throws {
        let coordinator = Coordinator(clock: clock)
        let held = try #require(try coordinator.tryAcquire([.writing("X")], purpose: Purpose("p")))
        let waiter = Task { try await coordinator.acquire([.reading("X")], purpose: .mount, deadline: .seconds(10)) }
        try await coordinator.untilWaiting(1)
        try await clock.untilSleeping(1)
        clock.advance(by: .seconds(10))
        await #expect(throws: CoordinationError(.deadline)) { try await waiter.value }
        #expect(coordinator.snapshot().map(\.id) == [held.id])
    }

    @Test("Cancelling the task ends the wait with .cancelled", arguments: [nil, Duration.seconds(10)])
    func cancellation(deadline: Duration?) async throws {
        let coordinator = Coordinator(clock: clock)
        _ = try coordinator.tryAcquire([.writing("X")], purpose: Purpose("p"))
        let waiter = Task { try await coordinator.acquire([.reading("X")], purpose: .mount, deadline: deadline) }
        try await coordinator.untilWaiting(1)
        waiter.cancel()
        await #expect(throws: CoordinationError(.cancelled)) { try await waiter.value }
        #expect(coordinator.snapshot().count == 1)
    }

    @Test("A task that was cancelled before it asked does not wait")
    func cancelledBefore() async throws {
        let coordinator = Coordinator(clock: clock)
        _ = try coordinator.tryAcquire([.writing("X")], purpose: Purpose("p"))
        let waiter = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await coordinator.acquire([.reading("X")], purpose: .mount)
        }
        await #expect(throws: CoordinationError(.cancelled)) { try await waiter.value }
    }

    @Test("A dead client's claims go at once")
    func clientGone() async throws {
        let coordinator = Coordinator(clock: clock)
        let client = ClientID(1)
        _ = try coordinator.tryAcquire([.writing("X")], purpose: Purpose("p"), client: client)
        let waiter = Task { try await coordinator.acquire([.writing("X")], purpose: .mount) }
        try await coordinator.untilWaiting(1)
        coordinator.remove(client: client)
        #expect(try await waiter.value.path == "X")
        #expect(!coordinator.isActive)
    }

    @Test("A waiter gets the path that its item has when the claim is granted")
    func moved() async throws {
        let coordinator = Coordinator(clock: clock)
        let held = try #require(try coordinator.tryAcquire([.writing("old")], purpose: Purpose("p")))
        let waiter = Task { try await coordinator.acquire([.reading("old")], purpose: .mount) }
        try await coordinator.untilWaiting(1)
        coordinator.tell(coordinator.enter { $0.moved(from: "old", to: "new") })
        coordinator.release(held)
        #expect(try await waiter.value.path == "new")
    }

    @Test("The report says who holds, who waits for whom, and for how long")
    func snapshot() async throws {
        let coordinator = Coordinator(clock: clock)
        let held = try #require(
            try coordinator.tryAcquire([.writing("X", .moving)], purpose: Purpose("editor"), processID: 42))
        clock.advance(by: .seconds(3))
        let waiter = Task { try await coordinator.acquire([.reading("X")], purpose: .mount) }
        try await coordinator.untilWaiting(1)
        clock.advance(by: .seconds(1))
        let reports = coordinator.snapshot()
        #expect(reports.map(\.isHeld) == [true, false])
        #expect(reports.map(\.age) == [.seconds(4), .seconds(1)])
        #expect(reports.map(\.waitsFor) == [nil, held.id])
        #expect(reports[0].summary == "\(held.id) (editor, pid 42) writing X (moving)")
        coordinator.release(held)
        _ = try await waiter.value
    }

    @Test("Many tasks on few items: no two writers at once, and everyone is served")
    func contention() async throws {
        let coordinator = Coordinator(clock: clock)
        let writers = WriterCount()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let place = item("item \(number % 3)")
                    let claim = try await coordinator.acquire([.writing(place)], purpose: Purpose("p\(number)"))
                    #expect(writers.enter(place) == 1)
                    await Task.yield()
                    writers.leave(place)
                    coordinator.release(claim)
                }
            }
            try await group.waitForAll()
        }
        #expect(coordinator.snapshot().isEmpty && !coordinator.isActive)
    }
}

/// How many tasks are inside their write of an item.
private final class WriterCount: Sendable {
    private let counts = Lock<[RelativePath: Int]>([:])

    func enter(_ path: RelativePath) -> Int {
        counts.withLock { counts in
            counts[path, default: 0] += 1
            return counts[path, default: 0]
        }
    }

    func leave(_ path: RelativePath) { counts.withLock { $0[path, default: 0] -= 1 } }
}

extension Coordinator {
    /// Returns once `count` requests wait.
    func untilWaiting(_ count: Int) async throws {
        while snapshot().filter({ !$0.isHeld }).count < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

/// A clock that stands until it is told to move.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Int: (until: Instant, CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state = Lock(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isDue = state.withLock { state in
                    guard deadline > state.now, !Task.isCancelled else { return true }
                    state.sleepers[id] = (deadline, continuation)
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.1.resume(throwing: CancellationError())
        }
        try Task.checkCancellation()
    }

    /// Moves time on and wakes those who slept until then.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.1)
        }
        for continuation in due { continuation.resume() }
    }

    /// Returns once `count` tasks sleep.
    func untilSleeping(_ count: Int) async throws {
        while state.withLock({ $0.sleepers.count }) < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
