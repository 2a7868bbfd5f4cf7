import Foundation
import Glibc
import QuireCore
import QuireTransport

/// Getting access: finding the items, waiting for the claim, and bringing here what the claim is for.
struct AccessRequest: Sendable {
    let coordinator: FileCoordinator
    let intents: [FileAccessIntent]
    let purpose: String
    var prepares = false

    /// Waits for access. Blocks on the file system: call it in `LibraryExecutor.run`.
    ///
    /// - Throws: what `FileCoordinator` says; nothing is held then.
    func perform() async throws -> HeldAccess {
        let handle = RequestHandle()
        coordinator.add(handle)
        defer { coordinator.remove(handle) }
        do {
            let access = try await acquire(handle)
            do {
                if !prepares { try await bring(access, handle) }
                guard !handle.isTakenBack, !Task.isCancelled else { throw CocoaError(.userCancelled) }
            } catch {
                // The reason why there is no access counts more than trouble in giving it back.
                try? await access.end()
                throw error
            }
            coordinator.add(access)
            return access
        } catch {
            guard handle.isTakenBack || Task.isCancelled else { throw error }
            throw CocoaError(.userCancelled)
        }
    }

    private func acquire(_ handle: RequestHandle) async throws -> HeldAccess {
        var locations: [ItemLocation] = []
        for intent in intents {
            locations.append(try await .of(intent.url, followsLink: intent.kind.resolvesSymbolicLink))
        }
        guard let first = locations.first else { throw QuireError(.usage, "an access needs an item") }
        guard locations.allSatisfy({ $0.drive === first.drive }) else {
            throw QuireError(
                .usage, "\(intents.map(\.url.path).joined(separator: ", ")) are on different drives",
                remedy: "Coordinate the items of one drive in one call")
        }
        let parameters = CoordinationMethods.Acquire.Parameters(
            try zip(intents, locations).map { intent, location in
                guard let words = intent.kind.words else {
                    throw QuireError(.usage, "\(intent.url.path): a write has at most one option")
                }
                return CoordinationMethods.Access(path: WirePath(location.path), access: words)
            },
            purpose: purpose, presenter: presenterNumber(on: first.drive))
        let peer = first.session.connection.peer
        let result = try await first.drive.link.gate.pass(handle) { () async throws(QuireError) in
            prepares
                ? try await peer.finish(CoordinationMethods.Prepare.self, parameters, handle: handle)
                : try await peer.finish(CoordinationMethods.Acquire.self, parameters, handle: handle)
        }
        guard let result else { throw CocoaError(.userCancelled) }
        for (index, intent) in intents.enumerated() where index < result.paths.count {
            let path = result.paths[index].path
            // Where it did not move, the caller's own URL is kept: it may lead there another way.
            guard path != locations[index].path || intent.kind.resolvesSymbolicLink else { continue }
            intent.move(to: first.session.mount.url(path, isDirectory: intent.url.hasDirectoryPath))
        }
        return HeldAccess(session: first.session, claim: result.claim, intents: intents)
    }

    private func presenterNumber(on drive: Drive) -> UInt64? {
        guard let presenter = coordinator.presenter, let entry = PresenterRegistry.shared.entry(of: presenter),
            entry.drive === drive
        else { return nil }
        return entry.number
    }

    /// Checks that the items are there, and brings their content.
    private func bring(_ access: HeldAccess, _ handle: RequestHandle) async throws {
        for intent in intents {
            let content = ItemContent(path: try ItemLocation.path(of: intent.url))
            guard content.exists else {
                guard intent.kind.needsItem else { continue }
                throw CocoaError(
                    .fileNoSuchFile, userInfo: [NSFilePathErrorKey: content.path, NSURLErrorKey: intent.url])
            }
            guard intent.kind.needsContent, !content.isHere else { continue }
            try await download(intent, access.session, handle)
            guard !handle.isTakenBack else { throw CocoaError(.userCancelled) }
        }
    }

    private var showProgress: (@Sendable (ItemMethods.ContentProgress) -> Void)? {
        guard let progress = coordinator.progress else { return nil }
        return { progress($0.completed, $0.total) }
    }

    private func download(
        _ intent: FileAccessIntent, _ session: DriveSession, _ handle: RequestHandle
    ) async throws {
        let path = try await ItemLocation.of(intent.url).path
        let target = ItemMethods.Target(path: WirePath(path))
        let outcome = try await session.connection.peer.finish(
            ItemMethods.Download.self, target, handle: handle,
            onPartial: showProgress)
        guard let refusal = outcome.refused.first else { return }
        throw QuireError(
            .unavailable, "\(refusal.path.path): its content cannot be brought here: \(refusal.message)",
            remedy: "See `quire status \(path)`, and try again when the provider answers")
    }
}
