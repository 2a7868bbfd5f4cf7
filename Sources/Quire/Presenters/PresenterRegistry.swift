import Foundation
import QuireCore
import Synchronization

/// The presenters of this process, in the order in which they were added.
final class PresenterRegistry: Sendable {
    static let shared = PresenterRegistry()

    // Taken alone.
    private let entries = Lock<[PresenterEntry]>([])

    var presenters: [any FilePresenter] { entries.withLock { $0.map(\.presenter) } }

    func entry(of presenter: any FilePresenter) -> PresenterEntry? {
        entries.withLock { $0.first { $0.presenter === presenter } }
    }

    /// Adds a presenter and registers it with the drive of its item, if it has one. A presenter that is there already
    /// stays as it is.
    func add(_ presenter: any FilePresenter) async throws(QuireError) {
        let entry = entries.withLock { entries -> PresenterEntry? in
            guard !entries.contains(where: { $0.presenter === presenter }) else { return nil }
            let entry = PresenterEntry(presenter)
            entries.append(entry)
            return entry
        }
        guard let entry else { return }
        do {
            try await refresh(entry)
        } catch {
            remove(presenter)
            throw error
        }
    }

    /// Ends a registration; returns at once.
    func remove(_ presenter: any FilePresenter) {
        let entry = entries.withLock { entries -> PresenterEntry? in
            guard let index = entries.firstIndex(where: { $0.presenter === presenter }) else { return nil }
            return entries.remove(at: index)
        }
        guard let entry else { return }
        entry.remove()
        entry.drive?.link.remove(entry)
    }

    /// As `refresh`, after an access of the presenter's own: where its item is on no drive any more it presents nothing.
    func refreshAfterAccess(_ entry: PresenterEntry) async throws(QuireError) {
        do throws(QuireError) {
            try await refresh(entry)
        } catch {
            guard error.code == .usage else { throw error }
            try await entry.drive?.link.move(entry, to: nil)
            entry.place(at: entry.presenter.presentedItemURL, on: entry.drive)
        }
    }

    /// Asks a presenter anew where its item is, and tells the daemon where that changed.
    func refresh(_ entry: PresenterEntry) async throws(QuireError) {
        let url = entry.presenter.presentedItemURL
        guard url?.absoluteURL.standardizedFileURL.path != entry.knownURL?.absoluteURL.standardizedFileURL.path else {
            return
        }
        guard let url else {
            try await entry.drive?.link.move(entry, to: nil)
            return entry.place(at: nil, on: entry.drive)
        }
        let location = try await LibraryExecutor.run { () throws(QuireError) in try await ItemLocation.of(url) }
        if let drive = entry.drive, drive === location.drive {
            try await drive.link.move(entry, to: location.path)
        } else {
            entry.drive?.link.remove(entry)
            try await location.drive.link.add(entry, at: location.path)
        }
        entry.place(at: url, on: location.drive)
    }
}
