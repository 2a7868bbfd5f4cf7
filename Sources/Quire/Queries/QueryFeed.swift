import Foundation
import QuireCore
import QuireTransport

/// What a drive tells of a query: from the first connection on, through restarts of the daemon.
struct QueryFeed: Sendable {
    enum Event: Sendable {
        case connected(MountPath)
        case update(QueryMethods.Update)
        case failed(QuireError)
    }

    let drive: Drive?
    let predicate: MetadataPredicate
    let scopes: [MetadataQuery.Scope]
    let batching: Duration

    /// Ends after `.failed`, or when the task that reads it is cancelled.
    func events() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        let task = Task(executorPreference: LibraryExecutor.shared) {
            await follow(continuation)
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private func follow(_ continuation: AsyncStream<Event>.Continuation) async {
        var pause = ReconnectPause()
        var wasConnected = false
        while !Task.isCancelled {
            let wasTold = OnceMark()
            do throws(QuireError) {
                let drive = if let drive { drive } else { try await Drive.running() }
                let session = try await drive.link.session()
                let parameters = try await parameters(on: session)
                wasConnected = true
                guard let parameters else {
                    continuation.yield(.connected(session.mount))
                    continuation.yield(.update(QueryMethods.Update(gathered: 0)))
                    return
                }
                _ = try await session.connection.call(QueryMethods.Live.self, parameters) { update in
                    if wasTold.set() { continuation.yield(.connected(session.mount)) }
                    continuation.yield(.update(update))
                }
            } catch {
                guard !Task.isCancelled else { return }
                // A daemon that went comes back, and others end that were before it; what else it refused it refuses again.
                guard wasConnected, [.unavailable, .temporary, .busy].contains(error.code) else {
                    continuation.yield(.failed(error))
                    return
                }
            }
            // What is refused again and again is asked for more and more seldom.
            if wasTold.isSet { pause = ReconnectPause() }
            await pause.wait()
        }
    }

    /// Nil where nothing can be found in the scopes.
    private func parameters(on session: DriveSession) async throws(QuireError) -> QueryMethods.Live.Parameters? {
        var directories: [RelativePath] = []
        for scope in scopes {
            switch scope {
            case .ubiquitousDocuments: directories.append(.root)
            case .ubiquitousData, .accessibleUbiquitousExternalDocuments: break
            case .directory(let url): directories.append(try await ItemLocation.of(url).path)
            }
        }
        guard let first = directories.first else { return nil }
        var find = ItemMethods.Find.Parameters(expression: predicate.expression)
        if directories.count == 1 {
            find.directory = first.isRoot ? nil : WirePath(first)
        } else if !directories.contains(.root) {
            let places = directories.map { MetadataAttribute<String>.path.isBelow($0) }
            find.expression = (places.dropFirst().reduce(places[0], ||) && predicate).expression
        }
        let (seconds, attoseconds) = batching.components
        return QueryMethods.Live.Parameters(
            query: find, batchingMilliseconds: Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}

extension MetadataAttribute where Value == String {
    fileprivate func isBelow(_ directory: RelativePath) -> MetadataPredicate {
        .matches(self, MetadataPredicate.literal("\(directory)/") + "*")
    }
}
