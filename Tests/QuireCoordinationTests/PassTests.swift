import QuireCoordination
import QuireCore
import Synchronization
import Testing

/// Leave for programs without a claim.
@Suite("Passes")
struct PassTests {
    private struct SilentLink: PresenterLink {
        func ask(_ question: QuestionID, of presenter: PresenterID, _ content: PresenterQuestion, timeout: Duration) {}
        func tell(_ presenter: PresenterID, _ message: PresenterMessage) {}
        func passedOver(_ presenter: PresenterID, _ question: PresenterQuestion) {}
    }

    private func register(_ path: RelativePath?, with coordinator: Coordinator) -> PresenterID {
        coordinator.register(
            PresenterRegistration(id: PresenterID(0), client: ClientID(1), path: path, purpose: Purpose("P")),
            link: SilentLink())
    }

    @Test(
        "Who presents the item, something above or below it, or of the same package, must be asked",
        arguments: [
            ("a", true), ("b", false), ("a/x", true), ("dir/x", true), ("dir", true), ("dir/other", false),
            ("dir2", false), ("book.rtfd/TXT.rtf", true), ("other.rtfd/TXT.rtf", false), ("", true),
        ])
    func places(path: String, isPresented: Bool) throws {
        let coordinator = Coordinator()
        for presented in ["a", "dir/x", "book.rtfd/picture.png"] {
            _ = register(RelativePath(parsing: presented), with: coordinator)
        }
        let path = try #require(RelativePath(parsing: path))
        for access in [Access.reading(path), .writing(path), .writing(path, .deleting)] {
            #expect((coordinator.pass(for: [access]) == nil) == isPresented)
            #expect((coordinator.pass(for: [.reading("b"), access]) == nil) == isPresented)
        }
    }

    @Test("No pass while an app claims anything, nor after it was announced")
    func claims() async throws {
        let coordinator = Coordinator()
        let before = try #require(coordinator.pass(for: [.writing("X")]))
        let claim = try await coordinator.acquire([.reading("Y")], purpose: Purpose("p"))
        #expect(coordinator.pass(for: [.writing("X")]) == nil)
        #expect(!coordinator.isValid(before))
        coordinator.release(claim)
        let after = try #require(coordinator.pass(for: [.writing("X")]))
        #expect(!coordinator.isValid(before) && coordinator.isValid(after))
        let quick = try #require(
            try coordinator.acquireAtOnce([.reading("Y")], purpose: Purpose("p"), AcquireOptions()))
        #expect(!coordinator.isValid(after))
        coordinator.release(quick)
        #expect(coordinator.pass(for: [.writing("X")]) != nil)
        // The mount's own claims are in nobody's way.
        let other = try await coordinator.acquire([.writing("X")], purpose: .mount)
        #expect(coordinator.pass(for: [.writing("X")]) != nil)
        coordinator.release(other)
    }

    @Test("A presenter that comes or goes elsewhere, and a move, end passes")
    func changes() throws {
        let coordinator = Coordinator()
        var pass = try #require(coordinator.pass(for: [.writing("X")]))
        let presenter = register("Y", with: coordinator)
        #expect(!coordinator.isValid(pass))
        pass = try #require(coordinator.pass(for: [.writing("X")]))
        #expect(coordinator.setPath("Z", of: presenter, by: ClientID(1)))
        #expect(!coordinator.isValid(pass))
        pass = try #require(coordinator.pass(for: [.writing("X")]))
        _ = coordinator.enterMove(from: "Z", to: "X", by: 1)
        #expect(!coordinator.isValid(pass))
        #expect(coordinator.pass(for: [.writing("X")]) == nil)
    }

    /// A mount with an operation that ends when it is told to.
    private final class Mount: MountWriters {
        private let gate = ThreadGate()
        /// How many have their claims.
        let granted = Atomic<Int>(0)
        let entered: AsyncStream<Void>
        private let enter: AsyncStream<Void>.Continuation

        init() { (entered, enter) = AsyncStream.makeStream() }

        var isWriting: Bool { false }
        func finishOperations() {
            enter.yield()
            gate.wait()
        }
        var isIdle: Bool { false }
        func end() { gate.open() }
        func inOrder(_ body: @escaping @Sendable () -> Void) { body() }
        func untilQuiet(_ accesses: [Access], except process: Int32?) async {}
    }

    @Test("Whoever claims waits for what programs are in the middle of, also while another one waits for it")
    func announcements() async throws {
        let coordinator = Coordinator()
        let mount = Mount()
        coordinator.attach(mount: mount)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2 {
                // Threads of their own: they block.
                group.addTask(executorPreference: PoolExecutor(label: "test-\(number)", width: 1, niceness: 0)) {
                    if (try? await coordinator.acquire([.writing("X")], purpose: Purpose("p"))) != nil {
                        mount.granted.wrappingAdd(1, ordering: .sequentiallyConsistent)
                    }
                }
            }
            var waiting = mount.entered.makeAsyncIterator()
            // Both get there, although neither ends.
            _ = await waiting.next()
            _ = await waiting.next()
            #expect(mount.granted.load(ordering: .sequentiallyConsistent) == 0)
            // What must not wait gets nothing meanwhile, and leaves nothing.
            #expect(throws: Never.self) {
                let quick = try coordinator.acquireAtOnce([.reading("Y")], purpose: Purpose("q"), AcquireOptions())
                #expect(quick == nil)
            }
            mount.end()
        }
        #expect(mount.granted.load(ordering: .sequentiallyConsistent) == 2)
    }
}

/// Opened once; threads wait for it.
private final class ThreadGate: @unchecked Sendable {
    // Guards the flag.
    private let monitor = ThreadMonitor()
    private var isOpen = false

    func open() {
        monitor.locked {
            isOpen = true
            monitor.signal()
        }
    }

    func wait() {
        monitor.locked {
            while !isOpen { monitor.wait() }
            // The next one.
            monitor.signal()
        }
    }
}
