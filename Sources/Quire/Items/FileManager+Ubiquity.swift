public import Foundation
import QuireCore
import QuireTransport

/// Whether documents' content is on this device, and moving documents into a drive and out of it.
extension FileManager {
    /// Whether an item is on a drive, or would be.
    public func isUbiquitousItem(at url: URL) async -> Bool {
        // Not running, or on no drive: either way it is none now.
        (try? await Drive.containing(url)) != nil
    }

    /// Begins to bring the content of an item here, of a directory all below it; returns before it has come. Why it does not
    /// come is in `ubiquitousItemDownloadingError`.
    ///
    /// - Throws: `.notFound`; `.usage` for an item on no drive, `.unavailable` where it does not run.
    public func startDownloadingUbiquitousItem(at url: URL) async throws(QuireError) {
        try await LibraryExecutor.run { () throws(QuireError) in
            let (location, target) = try await FileManager.target(url)
            _ = try await location.session.connection.call(ItemMethods.PathStatus.self, target)
            location.session.connection.peer.send(ItemMethods.Download.self, target) { _ in
                // Whoever wants to know asks for the item's values.
            }
        }
    }

    /// Leaves only the attributes of an item here, of a directory of all below it.
    ///
    /// - Throws: `.notAllowed` with the reason where it is not uploaded, open or pinned; as
    ///   `startDownloadingUbiquitousItem(at:)`.
    public func evictUbiquitousItem(at url: URL) async throws(QuireError) {
        try await LibraryExecutor.run { () throws(QuireError) in
            let (location, target) = try await FileManager.target(url)
            let outcome = try await location.session.connection.call(ItemMethods.Evict.self, target)
            guard let refusal = outcome.refused.first else { return }
            throw QuireError(.notAllowed, refusal.message)
        }
    }

    /// Moves an item into a drive, or out of it, in a coordinated write of both places.
    ///
    /// - Parameters:
    ///   - isUbiquitous: whether the destination is on a drive; the source is on one where it is not.
    ///   - destinationURL: where nothing is yet.
    /// - Throws: `.usage` where what is to be on a drive is not; `.busy` where the item changes while it is copied; what
    ///   coordinating and moving throw. It is at the one place or the other whole, or in both.
    public func setUbiquitous(_ isUbiquitous: Bool, itemAt url: URL, destinationURL: URL) async throws {
        let (source, destination) = (await isUbiquitousItem(at: url), await isUbiquitousItem(at: destinationURL))
        guard source != destination, destination == isUbiquitous else {
            throw QuireError(
                .usage, "\(url.path) to \(destinationURL.path): one of both is on a drive that runs, the other is not",
                remedy: "Move an item inside of a drive in a coordinated write")
        }
        if isUbiquitous {
            try await FileCoordinator().coordinate(writingItemAt: destinationURL, options: .forReplacing) { target in
                try await FileManager.move(url, to: target)
            }
        } else {
            try await FileCoordinator().coordinate(writingItemAt: url, options: .forMoving) { source in
                try await FileManager.move(source, to: destinationURL)
            }
        }
    }

    private static func target(_ url: URL) async throws(QuireError) -> (ItemLocation, ItemMethods.Target) {
        let location = try await ItemLocation.of(url)
        return (location, ItemMethods.Target(path: WirePath(location.path)))
    }

    /// Between file systems, and so a copy and a deletion.
    private static func move(_ source: URL, to target: URL) async throws {
        try await LibraryExecutor.run { try DocumentFile(url: target).take(from: source) }
    }
}
