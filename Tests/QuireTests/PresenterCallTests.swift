import Foundation
import QuireCore
import QuireTransport
import Synchronization
import Testing

@testable import Quire

/// A presenter that gives way when the test says so.
private final class HesitantPresenter: FilePresenter {
    typealias GivingWay = @Sendable ((@Sendable () -> Void)?) -> Void

    let presentedItemURL: URL?
    let presentedItemOperationQueue = OperationQueue()
    private let questions = AsyncStream.makeStream(of: GivingWay.self)

    init(_ url: URL) { presentedItemURL = url }

    func relinquishPresentedItem(toWriter writer: @escaping GivingWay) { questions.continuation.yield(writer) }

    /// What it is handed to give way by.
    func asked() async -> GivingWay? { await questions.stream.first { _ in true } }
}

@Suite("Presenters of the library", .timeLimit(.minutes(1)))
struct PresenterCallTests {
    private static func call(_ callback: String, of presenter: UInt64, question: UInt64? = nil)
        -> PresenterMethods.Call.Parameters
    {
        var call = PresenterMethods.Call.Parameters(presenter: presenter, callback: callback)
        call.question = question
        return call
    }

    /// Registers a presenter and says its number.
    private static func register(_ presenter: any FilePresenter) async throws -> UInt64 {
        try await FileCoordinator.addFilePresenter(presenter)
        return try #require(PresenterRegistry.shared.entry(of: presenter)?.number)
    }

    @Test("A call that comes before the registration's answer is kept for it")
    func early() async throws {
        let outcome = AsyncStream.makeStream(of: Bool?.self)
        let daemon = try FakeDaemon { request, peer in
            guard request.method == PresenterMethods.Add.name else { return FakeDaemon.Standard() }
            peer.send(PresenterMethods.Call.self, Self.call("relinquishToReader", of: 5, question: 1)) { result in
                outcome.continuation.yield(try? result.get().reacquires)
            }
            return PresenterMethods.Add.Result(presenter: 5, purpose: "p")
        }
        _ = try await daemon.connect()
        let presenter = QuietPresenter(try daemon.document("doc"))
        _ = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        #expect(await outcome.stream.first { _ in true } == .some(true))
        #expect(await presenter.heard(1) == ["relinquish"])
    }

    @Test("Callbacks run in the order in which they were sent, also in a queue that runs several at a time")
    func order() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let presenter = QuietPresenter(try daemon.document("doc"))
        let number = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        var wanted: [String] = []
        let peer = try #require(daemon.peer)
        // More than a peer that answers one request after the other would take at a time.
        for round in 0..<200 {
            var call = Self.call(round.isMultiple(of: 2) ? "didChange" : "didMove", of: number)
            call.path = WirePath(RelativePath([try #require(FileName("n\(round)"))]))
            peer.send(PresenterMethods.Call.self, call) { _ in }
            wanted.append(round.isMultiple(of: 2) ? "didChange" : "didMove n\(round)")
        }
        #expect(await presenter.heard(200) == wanted)
    }

    @Test("Whoever says nothing of subitems hears that a package changed, and of a plain directory nothing")
    func packageChanges() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        for (name, wanted) in [("pack.bundle", 4), ("directory", 1)] {
            let presenter = QuietPresenter(try daemon.document(name))
            let number = try await Self.register(presenter)
            defer { FileCoordinator.removeFilePresenter(presenter) }
            for callback in ["subitemDidAppear", "subitemDidChange", "subitemDidMove", "didChange"] {
                var call = Self.call(callback, of: number)
                call.path = WirePath(RelativePath(stringLiteral: "\(name)/b"))
                call.from = WirePath(RelativePath(stringLiteral: "\(name)/a"))
                _ = try await daemon.ask(call)
            }
            let heard = await presenter.heard(wanted)
            #expect(heard == Array(repeating: "didChange", count: wanted))
        }
    }

    @Test("A directory's presenter hears of versions of what is in it")
    func subitemVersions() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let presenter = QuietPresenter(daemon.mountpoint)
        let number = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        for (event, version) in [
            ("gained", "doc (conflicted copy 2026-01-31 from desk)"),
            ("resolved", "doc (conflicted copy 2026-01-31 from desk)"),
            ("lost", "20260131T080509.250000000Z-0123456789ab"),
        ] {
            var call = Self.call("subitemVersions", of: number)
            call.path = WirePath(RelativePath(stringLiteral: "doc"))
            call.event = event
            call.version = version
            _ = try await daemon.ask(call)
        }
        #expect(
            await presenter.heard(3) == [
                "didGain doc true false", "didResolve doc true true", "didLose doc false true",
            ])
    }

    @Test("Dropped without being called, what asks to relinquish counts as answered")
    func forgetful() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let presenter = QuietPresenter(try daemon.document("doc"), forgets: true)
        let number = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        let answer = try await daemon.ask(Self.call("relinquishToReader", of: number, question: 1))
        #expect(answer.reacquires == nil)
    }

    @Test("Calls for presenters and callbacks that are not known are answered; methods that are not known are refused")
    func unknown() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let presenter = QuietPresenter(try daemon.document("doc"))
        let number = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        _ = try await daemon.ask(Self.call("didChange", of: 999_999))
        _ = try await daemon.ask(Self.call("somethingNew", of: number))
        let error = await #expect(throws: QuireError.self) {
            _ = try await daemon.peer?.call(DriveMethods.Status.self, WireNothing())
        }
        #expect(error?.message.contains("no method status") == true)
    }

    @Test("When the daemon goes, whoever gave way goes on; then the presenter is registered again")
    func reconnects() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let presenter = QuietPresenter(try daemon.document("doc"))
        let number = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        #expect(try await daemon.ask(Self.call("relinquishToReader", of: number, question: 3)).reacquires == true)
        daemon.hangUp()
        await daemon.heard(PresenterMethods.Add.name, times: 2)
        #expect(await presenter.heard(3) == ["relinquish", "reacquire", "didChange"])
    }

    @Test("Whoever gives way after the daemon went goes on at once")
    func givesWayLate() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let presenter = HesitantPresenter(try daemon.document("doc"))
        let number = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        let peer = try #require(daemon.peer)
        peer.send(PresenterMethods.Call.self, Self.call("relinquishToWriter", of: number, question: 3)) { _ in }
        let giveWay = try #require(await presenter.asked())
        daemon.hangUp()
        await daemon.heard(PresenterMethods.Add.name, times: 2)
        let (reacquired, reacquire) = AsyncStream.makeStream(of: Void.self)
        giveWay { reacquire.finish() }
        for await _ in reacquired {}
        try #require(!Task.isCancelled, "it never goes on")
    }

    @Test("A presenter that is added while the daemon goes is registered with the one that is there")
    func addedLate() async throws {
        for _ in 0..<50 {
            let isFirst = Lock(true)
            let daemon = try FakeDaemon { request, peer in
                guard request.method == PresenterMethods.Add.name,
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return FakeDaemon.Standard() }
                peer.answer(request.id, with: PresenterMethods.Add.Result(presenter: 99, purpose: ""))
                peer.close()
                return nil
            }
            let drive = try await daemon.connect()
            let presenter = QuietPresenter(try daemon.document("doc"))
            defer { FileCoordinator.removeFilePresenter(presenter) }
            async let added: Void = FileCoordinator.addFilePresenter(presenter)
            // Somebody else connects at this moment.
            await daemon.heard(PresenterMethods.Add.name)
            async let other = drive.link.session()
            // Refused where the answer was lost.
            guard let _ = try? await added, let _ = try? await other else { continue }
            await daemon.heard(PresenterMethods.Add.name, times: 2)
            try #require(!Task.isCancelled, "it is never registered")
        }
    }

    @Test("The end of a connection that is told twice ends no registration with the next one")
    func endsOnce() async throws {
        let daemon = try FakeDaemon()
        let presenter = QuietPresenter(try daemon.document("doc"))
        let entry = PresenterEntry(presenter)
        let first = entry.connection
        entry.number = 1
        entry.keep({ presenter.presentedItemDidChange() }, for: 3, of: first)
        entry.connectionEnded(first)
        #expect(await presenter.heard(1) == ["didChange"])
        entry.number = 2
        entry.connectionEnded(first)
        #expect(entry.number == 2 && entry.connection == first + 1)
    }

    @Test("A question that is cancelled in the presenter's queue counts as answered")
    func cancelledQuestion() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let queue = HeldQueue()
        let presenter = QuietPresenter(try daemon.document("doc"), queue: queue)
        let number = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        async let answer = daemon.ask(Self.call("relinquishToReader", of: number, question: 1))
        await queue.added()
        queue.cancelAllOperations()
        queue.isSuspended = false
        #expect(try await answer.reacquires == nil)
    }

    @Test("However often the daemon goes, the presenter is registered with the one that is there")
    func reconnectsOften() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let presenter = QuietPresenter(try daemon.document("doc"))
        _ = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        for round in 1...20 {
            daemon.hangUp()
            await daemon.heard(PresenterMethods.Add.name, times: 1 + round)
            // Before that it is about to register: a daemon that goes then is asked once more.
            #expect(await presenter.heard(round) == Array(repeating: "didChange", count: round))
        }
        let number = try #require(PresenterRegistry.shared.entry(of: presenter)?.number)
        #expect(try await daemon.ask(Self.call("relinquishToReader", of: number, question: 1)).reacquires == true)
    }

    @Test("Removed, a presenter hears nothing more, and is not kept")
    func removed() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        weak var gone: QuietPresenter?
        do {
            let presenter = QuietPresenter(try daemon.document("doc"))
            gone = presenter
            let number = try await Self.register(presenter)
            #expect(FileCoordinator.filePresenters.contains { $0 === presenter })
            _ = try await daemon.ask(Self.call("didChange", of: number))
            #expect(await presenter.heard(1) == ["didChange"])
            FileCoordinator.removeFilePresenter(presenter)
            #expect(!FileCoordinator.filePresenters.contains { $0 === presenter })
            _ = try await daemon.ask(Self.call("didChange", of: number))
            await daemon.heard(PresenterMethods.Remove.name)
        }
        // The last operation may be ending at this moment, on a thread of its queue.
        for _ in 0..<1000 where gone != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(gone == nil)
    }

    @Test("After its own access a presenter's new item is known to the daemon; on no drive, it presents nothing")
    func follows() async throws {
        let paths = Lock<[String?]>([])
        let daemon = try FakeDaemon { request, _ in
            if request.method == PresenterMethods.SetPath.name {
                let parameters = try? request.parameters(PresenterMethods.SetPath.Parameters.self)
                paths.withLock { $0.append(parameters?.path?.path.description) }
            }
            return FakeDaemon.Standard()
        }
        _ = try await daemon.connect()
        let (one, two) = (try daemon.document("one"), try daemon.document("two"))
        let presenter = QuietPresenter(one)
        _ = try await Self.register(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        let coordinator = FileCoordinator(filePresenter: presenter)
        for url in [one, two, URL(filePath: "/etc/passwd"), two] {
            try await coordinator.coordinate(writingItemAt: one) { _ in presenter.presentedItemURL = url }
        }
        #expect(paths.withLock { $0 } == ["two", nil, "two"])
    }
}
