import Glibc
package import QuireCore
import Synchronization

/// Passes calls on to another provider, except where a test's script says that something goes wrong.
package final class FaultyProvider: DocumentProvider {
    /// The provider beneath.
    package let inner: any DocumentProvider
    /// Innermost lock: nothing else is taken while it is held.
    private let script = Lock(FaultScript())
    /// Innermost lock: nothing else is taken while it is held.
    private let checksums = Lock<[RelativePath: ContentChecksum]>([:])

    package init(_ inner: any DocumentProvider) { self.inner = inner }

    package var capabilities: ProviderCapabilities { inner.capabilities }

    package var decision: String? { inner.decision }

    package func recall(_ decision: String) { inner.recall(decision) }

    package func earlierVersions(of path: RelativePath) async throws(ProviderError) -> [RemoteItem] {
        try await inner.earlierVersions(of: path)
    }

    package func announce(_ changes: [AnnouncedChange]?) async throws(ProviderError) {
        try await passing(.announce, nil) { () async throws(ProviderError) in try await inner.announce(changes) }
    }

    /// Whoever looks at this document alone is told this checksum.
    package func tell(_ checksum: ContentChecksum, of path: RelativePath) { checksums.withLock { $0[path] = checksum } }

    /// While false every call throws `.unavailable` without asking the provider beneath.
    package var isAvailable: Bool {
        get { script.withLock { $0.isAvailable } }
        set { script.withLock { $0.isAvailable = newValue } }
    }

    /// Adds a fault to the script. Faults that meet the same call all take effect, in the order they were added.
    package func inject(_ fault: Fault) { script.withLock { $0.faults.append(fault) } }

    /// Drops all faults that have not happened yet.
    package func clearFaults() { script.withLock { $0.faults = [] } }

    /// How often `call` was made, counting those that failed.
    package func count(_ call: ProviderCall) -> Int { script.withLock { $0.counts[call] ?? 0 } }

    package func connect(expected: String?) async throws(ProviderError) -> String {
        try await passing(.connect, nil) { () async throws(ProviderError) in try await inner.connect(expected: expected)
        }
    }

    package func setBack(before cursor: ChangeCursor, next: ChangeCursor) async throws(ProviderError) -> ChangeCursor? {
        try await inner.setBack(before: cursor, next: next)
    }

    package func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges {
        try await passing(.changes, nil) { () async throws(ProviderError) in try await inner.changes(since: cursor) }
    }

    package func item(at path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        var item = try await passing(.item, path) { () async throws(ProviderError) in try await inner.item(at: path) }
        if let checksum = checksums.withLock({ $0[path] }) { item?.checksum = checksum }
        return item
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try await passing(.fetch, path, discarding: destination) { () async throws(ProviderError) in
            try await inner.fetch(path, version: version, to: destination, progress: progress)
        }
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, range: Range<Int64>, into destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try await passing(.fetch, path) { () async throws(ProviderError) in
            try await inner.fetch(path, version: version, range: range, into: destination, progress: progress)
        }
    }

    package func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try await passing(.put, path) { () async throws(ProviderError) in
            try await inner.put(path, content: content, attributes: attributes, expecting: expecting)
        }
    }

    package func putSymlink(
        _ path: RelativePath, target: [UInt8], mtime: FileTime, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try await passing(.putSymlink, path) { () async throws(ProviderError) in
            try await inner.putSymlink(path, target: target, mtime: mtime, expecting: expecting)
        }
    }

    package func createDirectory(
        _ path: RelativePath, attributes: RemoteAttributes
    ) async throws(ProviderError) -> RemoteItem {
        try await passing(.createDirectory, path) { () async throws(ProviderError) in
            try await inner.createDirectory(path, attributes: attributes)
        }
    }

    package func setAttributes(
        _ path: RelativePath, _ attributes: RemoteAttributes, expecting version: ProviderVersion
    ) async throws(ProviderError) -> RemoteItem {
        try await passing(.setAttributes, path) { () async throws(ProviderError) in
            try await inner.setAttributes(path, attributes, expecting: version)
        }
    }

    package func move(
        _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
    ) async throws(ProviderError) -> RemoteItem {
        try await passing(.move, path) { () async throws(ProviderError) in
            try await inner.move(path, to: destination, expecting: version)
        }
    }

    package func delete(_ path: RelativePath, expecting version: ProviderVersion?) async throws(ProviderError) {
        try await passing(.delete, path) { () async throws(ProviderError) in
            try await inner.delete(path, expecting: version)
        }
    }

    package func freeSpace() async throws(ProviderError) -> ByteCount? {
        try await passing(.freeSpace, nil) { () async throws(ProviderError) in try await inner.freeSpace() }
    }

    /// - Parameter destination: the file that a fetch made, removed when the fetch is to fail afterwards.
    private func passing<Value: Sendable>(
        _ call: ProviderCall, _ path: RelativePath?, discarding destination: String? = nil,
        _ body: () async throws(ProviderError) -> Value
    ) async throws(ProviderError) -> Value {
        let (isAvailable, effects) = script.withLock { ($0.isAvailable, $0.effects(of: call, path)) }
        guard isAvailable else { throw ProviderError(.unavailable, "the provider is switched off") }
        for effect in effects {
            switch effect {
            case .failBefore(let error): throw error
            case .hold(let gate):
                await gate.pass()
                if Task.isCancelled { throw ProviderError(.cancelled, "the operation was cancelled") }
            case .hang(let gate): await Task { await gate.pass() }.value
            case .failAfter, .holdAnswer, .truncate: break
            }
        }
        let value = try await body()
        for effect in effects {
            switch effect {
            case .failAfter(let error):
                if let destination { _ = unlink(destination) }
                throw error
            case .holdAnswer(let gate): await gate.pass()
            case .truncate:
                if let destination { _ = unlink(destination) }
                throw ProviderError(.failed, "\(path ?? .root): the transfer ended half way")
            case .failBefore, .hold, .hang: break
            }
        }
        return value
    }
}
