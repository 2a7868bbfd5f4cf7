import Foundation
import QuireCore
import QuireTransport
import Synchronization
import Testing

@testable import Quire

@Suite("File coordinator", .timeLimit(.minutes(1)))
struct FileCoordinatorTests {
    /// A daemon that answers a request for access when it is taken back, and with a grant all the same.
    private static func lateDaemon() throws -> FakeDaemon {
        try FakeDaemon { request, peer in
            guard request.method == CoordinationMethods.Acquire.name else { return FakeDaemon.Standard() }
            Task {
                await request.cancelled.wait()
                peer.answer(request.id, with: CoordinationMethods.Acquire.Result(claim: 7, paths: [WirePath("doc")]))
            }
            return nil
        }
    }

    @Test("A grant that crosses cancel() on its way is given back")
    func lateGrant() async throws {
        let daemon = try Self.lateDaemon()
        _ = try await daemon.connect()
        let url = try daemon.document("doc")
        let coordinator = FileCoordinator()
        async let outcome: Void = coordinator.coordinate(writingItemAt: url) { _ in Issue.record("there is no access") }
        await daemon.heard(CoordinationMethods.Acquire.name)
        coordinator.cancel()
        do {
            try await outcome
            Issue.record("cancelled, it throws")
        } catch let error as CocoaError {
            #expect(error.code == .userCancelled)
        }
        await daemon.heard(CoordinationMethods.Release.name)
    }

    @Test("A cancelled task's wait ends with userCancelled")
    func cancelledTask() async throws {
        let daemon = try FakeDaemon { request, peer in
            guard request.method == CoordinationMethods.Acquire.name else { return FakeDaemon.Standard() }
            Task {
                await request.cancelled.wait()
                peer.answer(request.id, with: RPCError(code: RPCError.cancelled, message: "cancelled"))
            }
            return nil
        }
        _ = try await daemon.connect()
        let url = try daemon.document("doc")
        let task = Task { try await FileCoordinator().coordinate(readingItemAt: url) { _ in } }
        await daemon.heard(CoordinationMethods.Acquire.name)
        task.cancel()
        let error = await #expect(throws: CocoaError.self) { try await task.value }
        #expect(error?.code == .userCancelled)
        #expect(!daemon.asked.contains(CoordinationMethods.Release.name))
    }

    @Test(
        "A task that is cancelled during its access gives it back, and says what it has done", arguments: [false, true])
    func cancelledAccess(fails: Bool) async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let url = try daemon.document("doc")
        let runs = AsyncStream.makeStream(of: Void.self)
        let goOn = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await FileCoordinator().coordinate(writingItemAt: url) { url in
                runs.continuation.finish()
                // Goes on in a cancelled task.
                await Task.detached { for await _ in goOn.stream {} }.value
                if fails { throw CocoaError(.fileWriteOutOfSpace) }
                try Data("new".utf8).write(to: url)
                return "written"
            }
        }
        for await _ in runs.stream {}
        task.cancel()
        goOn.continuation.finish()
        if fails {
            await #expect(throws: CocoaError(.fileWriteOutOfSpace)) { try await task.value }
        } else {
            #expect(try await task.value == "written")
        }
        #expect(daemon.asked.filter { $0 == CoordinationMethods.Release.name }.count == 1)
    }

    @Test("A grant that crosses its task's cancellation on its way is given back")
    func grantOfCancelled() async throws {
        let daemon = try Self.lateDaemon()
        _ = try await daemon.connect()
        let url = try daemon.document("doc")
        let task = Task {
            try await FileCoordinator().coordinate(writingItemAt: url) { _ in Issue.record("there is no access") }
        }
        await daemon.heard(CoordinationMethods.Acquire.name)
        task.cancel()
        await #expect(throws: CocoaError(.userCancelled)) { try await task.value }
        #expect(daemon.asked.contains(CoordinationMethods.Release.name))
    }

    @Test("What the accessor returns and throws comes back, and access is given back either way")
    func accessors() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let url = try daemon.document("doc", "content")
        let text = try await FileCoordinator().coordinate(readingItemAt: url) {
            try String(contentsOf: $0, encoding: .utf8)
        }
        #expect(text == "content")
        await #expect(throws: CocoaError.self) {
            try await FileCoordinator().coordinate(writingItemAt: url) { _ in throw CocoaError(.fileWriteOutOfSpace) }
        }
        #expect(daemon.asked.filter { $0 == CoordinationMethods.Release.name }.count == 2)
    }

    @Test("The synchronous form needs no other thread of the process, and uses the caller's")
    func synchronous() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let url = try daemon.document("doc", "content")
        let result: (Bool, String) = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let thread = Thread.current
                continuation.resume(
                    with: Result {
                        try FileCoordinator().coordinate(readingItemAt: url) { url in
                            (Thread.current === thread, try String(contentsOf: url, encoding: .utf8))
                        }
                    })
            }
        }
        #expect(result == (true, "content"))
    }

    @Test("An accessor that is cancelled in its queue does not run, and access is given back")
    func cancelledAccessor() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let queue = HeldQueue()
        FileCoordinator().coordinate(with: [.writingIntent(with: try daemon.document("doc"))], queue: queue) { _ in
            Issue.record("it was cancelled")
        }
        await queue.added()
        queue.cancelAllOperations()
        queue.isSuspended = false
        await daemon.heard(CoordinationMethods.Release.name)
    }

    /// Uses every form but the plain read.
    private static func useAll(_ one: URL, _ two: URL, _ presenter: QuietPresenter) throws -> [String] {
        var steps: [String] = []
        let coordinator = FileCoordinator()
        try FileCoordinator.addFilePresenter(presenter)
        defer { FileCoordinator.removeFilePresenter(presenter) }
        try coordinator.coordinate(writingItemAt: one, options: .forMerging) {
            steps.append("write \($0.lastPathComponent)")
        }
        try coordinator.coordinate(readingItemAt: one, writingItemAt: two) {
            steps.append("read \($0.lastPathComponent) write \($1.lastPathComponent)")
        }
        let moved = one.deletingLastPathComponent().appending(path: "moved")
        try coordinator.coordinate(
            writingItemAt: one, options: .forMoving, writingItemAt: moved, options: .forReplacing
        ) { source, target in
            try coordinator.item(at: source, willMoveTo: target)
            try FileManager.default.moveItem(at: source, to: target)
            try coordinator.item(at: source, didMoveTo: target)
            try coordinator.item(at: target, didChangeUbiquityAttributes: [.ubiquitousItemIsUploadedKey])
            steps.append("moved")
        }
        try coordinator.prepare(forReadingItemsAt: [two], writingItemsAt: []) { done in
            steps.append("prepared")
            Thread.detachNewThread { done() }
        }
        return steps
    }

    @Test("Each synchronous form does what its asynchronous twin does")
    func synchronousForms() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let (one, two) = (try daemon.document("one"), try daemon.document("two"))
        let presenter = QuietPresenter(one)
        let steps: [String] = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.useAll(one, two, presenter) })
            }
        }
        #expect(steps == ["write one", "read one write two", "moved", "prepared"])
        for method in [
            PresenterMethods.Add.name, CoordinationMethods.DidMove.name, CoordinationMethods.DidChangeAttributes.name,
            CoordinationMethods.Prepare.name,
        ] { #expect(daemon.asked.contains(method), "\(method)") }
        #expect(daemon.asked.filter { $0 == CoordinationMethods.Release.name }.count == 4)
    }

    @Test("The daemon's end during an access is told at the access's end")
    func daemonEnds() async throws {
        let daemon = try FakeDaemon()
        let drive = try await daemon.connect()
        let url = try daemon.document("doc")
        let error = await #expect(throws: QuireError.self) {
            try await FileCoordinator().coordinate(writingItemAt: url) { _ in
                let session = try await drive.link.session()
                daemon.hangUp()
                await session.connection.waitUntilClosed()
            }
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("ended during the access") == true)
    }

    @Test("A purpose is set once, before use, not empty, and not with a presenter")
    func purposes() throws {
        let coordinator = FileCoordinator()
        #expect(throws: QuireError.self) { try coordinator.setPurposeIdentifier("") }
        try coordinator.setPurposeIdentifier("com.example.purpose")
        #expect(coordinator.purposeIdentifier == "com.example.purpose")
        #expect(throws: QuireError.self) { try coordinator.setPurposeIdentifier("another") }
        let presenter = QuietPresenter(nil)
        let (one, two) = (FileCoordinator(filePresenter: presenter), FileCoordinator(filePresenter: presenter))
        #expect(one.purposeIdentifier == two.purposeIdentifier)
        #expect(throws: QuireError.self) { try one.setPurposeIdentifier("another") }
        #expect(FileCoordinator().purposeIdentifier != FileCoordinator().purposeIdentifier)
    }

    @Test("A preparation neither follows links nor replaces")
    func preparations() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let url = try daemon.document("doc")
        await #expect(throws: QuireError.self) {
            try await FileCoordinator().prepare(
                forReadingItemsAt: [url], options: .resolvesSymbolicLink, writingItemsAt: []
            ) {}
        }
        await #expect(throws: QuireError.self) {
            try await FileCoordinator().prepare(
                forReadingItemsAt: [], options: [], writingItemsAt: [url], options: .forReplacing
            ) {}
        }
        #expect(!daemon.asked.contains(CoordinationMethods.Prepare.name))
    }

    @Test("Options become the socket's words; two writing options are refused")
    func words() {
        #expect(AccessKind.reading([.withoutChanges, .forUploading]).words == "read withoutChanges forUploading")
        // Following the link is the library's part.
        #expect(AccessKind.reading(.resolvesSymbolicLink).words == "read")
        #expect(AccessKind.writing([]).words == "write")
        #expect(AccessKind.writing(.forReplacing).words == "write forReplacing")
        #expect(AccessKind.writing([.forMoving, .forDeleting]).words == nil)
        #expect(FileCoordinator.ReadingOptions.forUploading.rawValue == AccessWords("read forUploading")?.bits)
        for bits in 0..<16 as Range<UInt> { #expect(AccessWords(AccessWords(.read, bits: bits).text)?.bits == bits) }
        for bits in 0..<32 as Range<UInt> { #expect(AccessWords(AccessWords(.write, bits: bits).text)?.bits == bits) }
        for text in ["", "reads", "read forMoving", "write withoutChanges", "read forUploading forUploading"] {
            #expect(AccessWords(text) == nil)
        }
    }

    @Test("A daemon of another protocol is refused with words")
    func otherProtocol() async throws {
        let daemon = try FakeDaemon(protocolVersion: 2)
        let error = await #expect(throws: QuireError.self) { try await daemon.connect() }
        #expect(error?.message.contains("protocol 2") == true)
    }
}
