import Foundation
import Quire

/// One coordinated access: its accessor does what it is told until it is told to end.
final class RunningAccess: Sendable {
    let name: String
    private let orders: AsyncStream<[String]>
    private let order: AsyncStream<[String]>.Continuation

    init(name: String) {
        self.name = name
        (orders, order) = AsyncStream.makeStream(of: [String].self)
    }

    func tell(_ words: [String]) { order.yield(words) }

    /// Prints `granted` with the paths, obeys, and prints how it ended.
    func run(_ intents: [FileAccessIntent], _ coordinator: FileCoordinator, form: String) async {
        do {
            switch form {
            case "async":
                try await coordinator.coordinate(with: intents) { try await obey(intents, coordinator) }
            case "prepare":
                try await coordinator.prepare(
                    forReadingItemsAt: intents.map(\.url), writingItemsAt: []
                ) { try await obey(intents, coordinator) }
            case "url" where intents.count == 1:
                try await coordinator.coordinate(readingItemAt: intents[0].url) { url in
                    try await obey([.readingIntent(with: url)], coordinator)
                }
            default: throw CocoaError(.featureUnsupported)
            }
            Output.line("ended", name)
        } catch {
            Output.line("failed", name, Output.describe(error))
        }
    }

    /// The callback form.
    func run(_ intents: [FileAccessIntent], _ coordinator: FileCoordinator, queue: OperationQueue) {
        coordinator.coordinate(with: intents, queue: queue) { [self] error in
            if let error { return Output.line("failed", name, Output.describe(error)) }
            Output.line("granted", name, intents.map(\.url.path).joined(separator: " "))
            Output.line("in-queue", "\(OperationQueue.current === queue)")
        }
    }

    private func obey(_ intents: [FileAccessIntent], _ coordinator: FileCoordinator) async throws {
        Output.line("granted", name, intents.map(\.url.path).joined(separator: " "))
        for await words in orders {
            switch words.first {
            case "end": return
            case "fail": throw CocoaError(.coderInvalidValue)
            case "write": try Data((words.dropFirst().joined(separator: " ") + "\n").utf8).write(to: intents[0].url)
            case "remove": try FileManager.default.removeItem(at: intents[0].url)
            case "show":
                let text = try String(contentsOf: intents[0].url, encoding: .utf8)
                Output.line("content", name, text.replacing("\n", with: "|"))
            case "zip":
                let bytes = try Data(contentsOf: intents[0].url)
                Output.line("content", name, String(decoding: bytes.prefix(2), as: UTF8.self))
            case "move":
                let target = intents[0].url.deletingLastPathComponent().appending(path: words[1])
                let source = intents[0].url
                try coordinator.item(at: source, willMoveTo: target)
                try FileManager.default.moveItem(at: source, to: target)
                try await coordinator.item(at: source, didMoveTo: target)
                Output.line("moved", name, intents[0].url.lastPathComponent)
            case "nest":
                await nest(words.dropFirst().map(\.self), intents[0].url, coordinator)
            default: Output.line("unknown", words.joined(separator: " "))
            }
        }
    }

    private func nest(_ words: [String], _ url: URL, _ coordinator: FileCoordinator) async {
        do {
            switch words.first {
            case "read": try await coordinator.coordinate(readingItemAt: url) { _ in Output.line("nested", name) }
            case "write": try await coordinator.coordinate(writingItemAt: url) { _ in Output.line("nested", name) }
            default: try await FileCoordinator().coordinate(readingItemAt: url) { _ in Output.line("nested", name) }
            }
        } catch {
            Output.line("refused", name, Output.describe(error))
        }
    }
}
