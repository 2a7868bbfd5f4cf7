import QuireCoordination
import QuireCore
import QuireProviders
@testable import QuireSync
import Synchronization
import Testing

/// What comes from the provider meets apps that present the items.
@Suite(.timeLimit(.minutes(2))) struct PresentedItemsTests {
    let clock = TestClock()
    let provider = MemoryProvider()

    /// An app that answers what it is asked, and keeps what it was asked and told.
    private final class App: PresenterLink {
        private let coordinator: Coordinator
        private let client = ClientID(1)
        private let seen = Lock<[String]>([])
        private let whenAsked: @Sendable (PresenterQuestion) -> PresenterAnswer

        init(
            presenting path: RelativePath, of device: Device, observing attributes: Set<String> = [],
            whenAsked: @escaping @Sendable (PresenterQuestion) -> PresenterAnswer = { _ in .done(reacquires: false) }
        ) {
            coordinator = device.coordinator
            self.whenAsked = whenAsked
            _ = coordinator.register(
                PresenterRegistration(
                    id: PresenterID(0), client: client, path: path, purpose: Purpose("app"),
                    observedAttributes: attributes),
                link: self)
        }

        var log: [String] { seen.withLock { $0 } }

        func ask(_ question: QuestionID, of presenter: PresenterID, _ content: PresenterQuestion, timeout: Duration) {
            seen.withLock { $0.append(content.name) }
            let answer = whenAsked(content)
            Task { coordinator.answer(question, by: client, answer) }
        }

        func tell(_ presenter: PresenterID, _ message: PresenterMessage) {
            var told = message.name
            if case .ubiquityAttributes(let names) = message { told += " " + names.sorted().joined(separator: ",") }
            seen.withLock { [told] in $0.append(told) }
        }

        func passedOver(_ presenter: PresenterID, _ question: PresenterQuestion) {
            seen.withLock { $0.append("passed over: \(question.name)") }
        }
    }

    /// Two devices that both have `a`, with its content.
    private func devices(claimDeadline: Duration = .seconds(10)) async throws -> (Device, Device) {
        let one = try Device("one", provider: provider, clock: clock)
        let two = try Device("two", provider: provider, clock: clock, claimDeadline: claimDeadline)
        try one.write("a", "first")
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        #expect(try await two.open("a") == "first")
        return (one, two)
    }

    /// One round, which leaves what cannot be done now to the next.
    private func pull(_ device: Device) async {
        for engine in device.service.engines { _ = await engine.round(isUrgent: true, pulls: true) }
    }

    @Test("Before another device's version arrives an app saves what it has, and both versions are kept")
    func unsavedChanges() async throws {
        let (one, two) = try await devices()
        try one.write("a", "second")
        #expect(await one.sync() == .settled)
        let unsaved = Lock(true)
        nonisolated(unsafe) let device = two
        let app = App(presenting: "a", of: two) { question in
            let saves =
                question == .saveChanges
                && unsaved.withLock { isUnsaved in
                    defer { isUnsaved = false }
                    return isUnsaved
                }
            guard saves else { return .done(reacquires: false) }
            do { try device.write("a", "unsaved") } catch { return .failed("\(error)") }
            return .done(reacquires: false)
        }
        _ = await two.sync()
        #expect(app.log.starts(with: ["relinquishToWriter", "saveChanges"]), "\(app.log)")
        _ = await two.sync()
        let contents = provider.items.map { provider.contents(at: $0.path) }
        #expect(contents.contains(Array("second".utf8)) && contents.contains(Array("unsaved".utf8)), "\(contents)")
    }

    @Test("Another device's version is announced, then arrives, then is told")
    func update() async throws {
        let (one, two) = try await devices()
        try one.write("a", "second")
        #expect(await one.sync() == .settled)
        let app = App(presenting: "a", of: two)
        #expect(await two.sync() == .settled)
        #expect(app.log.starts(with: ["relinquishToWriter", "saveChanges"]), "\(app.log)")
    }

    @Test("An app is asked before another device's deletion is carried out, and may object")
    func deletion() async throws {
        let (one, two) = try await devices()
        try one.remove("a")
        #expect(await one.sync() == .settled)
        let objects = Lock(true)
        let app = App(presenting: "a", of: two) { question in
            question == .accommodateDeletion && objects.withLock { $0 }
                ? .failed("it is being shown") : .done(reacquires: false)
        }
        await pull(two)
        #expect(app.log.contains("accommodateDeletion"), "\(app.log)")
        #expect(try two.listing().keys.contains("a"))
        objects.withLock { $0 = false }
        clock.advance(.seconds(60))
        #expect(await two.sync() == .settled)
        #expect(try !two.listing().keys.contains("a"))
    }

    @Test("An app that observes them hears that its document is being uploaded, evicted and downloaded")
    func attributes() async throws {
        let (_, two) = try await devices()
        let app = App(presenting: "a", of: two, observing: ["isUploaded", "downloadingStatus"])
        try two.write("a", "second")
        #expect(await two.sync() == .settled)
        #expect(app.log == ["ubiquityAttributes isUploaded"])
        _ = try await two.service.evict("a")
        #expect(try two.isDataless("a"))
        #expect(try await two.open("a") == "second")
        #expect(app.log.suffix(2) == Array(repeating: "ubiquityAttributes downloadingStatus", count: 2), "\(app.log)")
    }

    @Test("An app that holds a claim is waited for; what it holds no claim for is not")
    func claim() async throws {
        let (one, two) = try await devices(claimDeadline: .milliseconds(200))
        let claim = try #require(try two.coordinator.tryAcquire([.reading("a")], purpose: Purpose("app")))
        try one.write("a", "second")
        try one.write("b", "new")
        #expect(await one.sync() == .settled)
        await pull(two)
        #expect(try two.text("a") == "first")
        #expect(try two.listing().keys.contains("b"))
        two.coordinator.release(claim)
        clock.advance(.seconds(60))
        #expect(await two.sync() == .settled)
        #expect(try two.text("a") == "second")
    }
}
