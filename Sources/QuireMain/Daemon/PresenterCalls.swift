import Logging
import QuireCoordination
import QuireCore
import QuireTransport
import Synchronization

/// Carries calls to the presenters of one client, and their answers back.
final class PresenterCalls: PresenterLink {
    /// Calls that a client may leave unanswered before it counts as dead: it reads nothing, and memory is not for ever.
    private static let limit = 10_000

    private let client: ClientID
    private let session: ClientSession
    private let coordinator: Coordinator
    private let logger: Logger
    private let unanswered = Lock(0)

    init(client: ClientID, session: ClientSession, coordinator: Coordinator, logger: Logger) {
        self.client = client
        self.session = session
        self.coordinator = coordinator
        self.logger = logger
    }

    func ask(_ question: QuestionID, of presenter: PresenterID, _ content: PresenterQuestion, timeout: Duration) {
        var call = PresenterMethods.Call.Parameters(presenter: presenter.rawValue, callback: content.name)
        call.timeoutSeconds = timeout / .seconds(1)
        switch content {
        case .relinquishToReader, .relinquishToWriter: call.question = question.rawValue
        case .accommodateSubitemDeletion(let path): call.path = WirePath(path)
        case .saveChanges, .accommodateDeletion: break
        }
        send(call) { [coordinator, client] outcome in
            switch outcome {
            case .success(let result):
                coordinator.answer(question, by: client, .done(reacquires: result.reacquires ?? false))
            case .failure(let error): coordinator.answer(question, by: client, .failed(error.message))
            }
        }
    }

    func tell(_ presenter: PresenterID, _ message: PresenterMessage) {
        var call = PresenterMethods.Call.Parameters(presenter: presenter.rawValue, callback: message.name)
        switch message {
        case .reacquire(let question): call.question = question.rawValue
        case .didChange: break
        case .didMove(let path), .subitemDidAppear(let path), .subitemDidChange(let path): call.path = WirePath(path)
        case .subitemDidMove(let from, let to):
            call.from = WirePath(from)
            call.path = WirePath(to)
        case .version(let event, let id, let path):
            call.event = event.rawValue
            call.version = id
            call.path = path.map { WirePath($0) }
        case .ubiquityAttributes(let attributes): call.attributes = attributes.sorted()
        }
        // Nobody waits for the answer; an error in it is the client's own matter.
        send(call) { _ in }
    }

    func passedOver(_ presenter: PresenterID, _ question: PresenterQuestion) {
        logger.warning(
            "an app did not answer in time and is passed over until it does",
            metadata: [
                "pid": "\(session.pid)", "program": "\(ProcessName.of(session.pid) ?? "?")",
                "question": "\(question.name)",
            ])
    }

    private func send(
        _ call: PresenterMethods.Call.Parameters,
        whenAnswered: @escaping @Sendable (Result<PresenterMethods.Call.Result, QuireError>) -> Void
    ) {
        guard let peer = session.peer else { return }
        let count = unanswered.withLock { count in
            count += 1
            return count
        }
        guard count <= Self.limit else { return peer.close() }
        peer.send(PresenterMethods.Call.self, call) { [self] outcome in
            unanswered.withLock { $0 -= 1 }
            whenAnswered(outcome)
        }
    }
}
