import Foundation
import QuireCore

extension FileCoordinator {
    /// One access from beginning to end: waits for it, runs `accessor` in the caller's isolation, gives it back.
    ///
    /// - Parameter accessor: uses the intents' URLs.
    nonisolated(nonsending) func access<Value>(
        _ intents: [FileAccessIntent], prepares: Bool = false, accessor: () async throws -> Value
    ) async throws -> Value {
        let (access, snapshots) = try await begin(intents, prepares: prepares)
        let value: Value
        do {
            value = try await AccessScope.$current.withValue(scope(access, prepares: prepares)) { try await accessor() }
        } catch {
            // What the accessor says counts more than trouble in giving access back.
            try? await end(access, snapshots)
            throw error
        }
        try await end(access, snapshots)
        return value
    }

    /// One item's access.
    nonisolated(nonsending) func access<Value>(
        _ intent: FileAccessIntent, byAccessor accessor: (URL) async throws -> Value
    ) async throws -> Value {
        try await access([intent]) { try await accessor(intent.url) }
    }

    /// Access to two items, granted together.
    nonisolated(nonsending) func access<Value>(
        _ first: FileAccessIntent, _ second: FileAccessIntent, byAccessor accessor: (URL, URL) async throws -> Value
    ) async throws -> Value {
        try await access([first, second]) { try await accessor(first.url, second.url) }
    }

    /// Waits for access.
    func begin(_ intents: [FileAccessIntent], prepares: Bool) async throws -> (HeldAccess, [UploadSnapshot]) {
        let purpose = settledPurpose()
        try AccessScope.check(intents.map(\.kind), purpose: purpose, prepares: prepares)
        let request = AccessRequest(coordinator: self, intents: intents, purpose: purpose, prepares: prepares)
        return try await LibraryExecutor.run {
            let access = try await request.perform()
            guard !prepares else { return (access, []) }
            do {
                return (access, try await self.takeSnapshots(access))
            } catch {
                try? await self.end(access, [])
                throw error
            }
        }
    }

    /// Gives access back, and has the presenter's own URL asked for again.
    func end(_ access: HeldAccess, _ snapshots: [UploadSnapshot]) async throws {
        remove(access)
        let presenter = presenter
        try await LibraryExecutor.run {
            for snapshot in snapshots { snapshot.remove() }
            try await access.end()
            guard let presenter, let entry = PresenterRegistry.shared.entry(of: presenter) else { return }
            try await PresenterRegistry.shared.refreshAfterAccess(entry)
        }
    }

    func scope(_ access: HeldAccess, prepares: Bool) -> AccessScope {
        let kind: AccessScope.Kind = prepares ? .preparing : access.isWriting ? .writing : .reading
        return AccessScope(kind: kind, purpose: purposeIdentifier)
    }

    /// Where an access is for uploading alone, it is given back as soon as all snapshots are there.
    private func takeSnapshots(_ access: HeldAccess) async throws -> [UploadSnapshot] {
        let uploads = access.intents.filter(\.kind.isForUploading)
        guard !uploads.isEmpty else { return [] }
        let snapshots = try uploads.map { try UploadSnapshot(of: $0.url) }
        if uploads.count == access.intents.count { try await access.end() }
        for (intent, snapshot) in zip(uploads, snapshots) { intent.move(to: try snapshot.url()) }
        return snapshots
    }
}
