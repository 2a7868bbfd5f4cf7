import Foundation
import Logging
import QuireCore
import QuireIndex
import QuireSync
import QuireThumbnails

/// What is known of a provider's thumbnails.
struct ThumbnailRoomState: Sendable {
    /// Nil before the first answer.
    var known: Set<String>?
    var cursor: String?
    /// Documents without a thumbnail here, by its name: it may come later than they do.
    var wanted: [String: RelativePath] = [:]
    /// Some of them came since the provider was asked last.
    var hasNewWanted = false
    /// Documents whose thumbnail is to be sent, and thumbnails to be removed, when the provider is there.
    var unsent: Set<RelativePath> = []
    var unremoved: Set<String> = []
    /// Sent and not removed since the listing was asked for: it may not say so yet.
    var fresh: Set<String> = []
    /// Pictures that are there and here, and differ, as they were when both were compared.
    var compared: [String: ThumbnailListing.Entry] = [:]

    /// Most documents that are waited for; the others are found at the next start.
    static let mostWanted = 20_000
}

extension ThumbnailKeeper {
    /// Whether some provider was not asked yet, though it is to be: something waits for its answer.
    var isImpatient: Bool {
        rooms.values.contains { $0.known == nil || $0.hasNewWanted || !$0.unsent.isEmpty || !$0.unremoved.isEmpty }
    }

    /// Brings a picture from the provider, if that has one; else it is brought when it has.
    func bring(_ subject: ThumbnailSubject, isAsked: Bool) async -> Outcome {
        guard let storage = subject.room.storage, subject.item.base != nil else { return .dataless }
        let (name, container) = (subject.key.name, subject.room.container)
        guard isAsked || rooms[container]?.known?.contains(name) ?? false else {
            want(subject)
            return .dataless
        }
        do {
            guard let bytes = try await storage.thumbnail(name) else {
                want(subject)
                return .dataless
            }
            guard let picture = ThumbnailMaker.sound(Data(bytes)) else {
                tools.logger.info("a provider's thumbnail is no picture", metadata: ["name": "\(name)"])
                return .dataless
            }
            rooms[container, default: .init()].known?.insert(name)
            return await keep(picture, Self.origin(of: picture), subject, renews: false)
        } catch {
            want(subject)
            return .dataless
        }
    }

    private func want(_ subject: ThumbnailSubject) {
        let container = subject.room.container
        guard rooms[container, default: .init()].wanted.count < ThumbnailRoomState.mostWanted else { return }
        rooms[container, default: .init()].wanted[subject.key.name] = subject.item.path
        rooms[container, default: .init()].hasNewWanted = true
    }

    /// Sends the picture to the provider, if that has not got it.
    func send(_ subject: ThumbnailSubject, renews: Bool) async {
        guard let storage = subject.room.storage else { return }
        let (name, container, path) = (subject.key.name, subject.room.container, subject.item.path)
        guard renews || !(rooms[container]?.known?.contains(name) ?? false) else { return }
        guard let picture = tools.home.read(subject.key) else { return }
        do {
            try await storage.putThumbnail(name, Array(picture))
            rooms[container, default: .init()].known?.insert(name)
            rooms[container, default: .init()].fresh.insert(name)
            rooms[container, default: .init()].unsent.remove(path)
        } catch {
            // Sent again when the provider is asked the next time.
            rooms[container, default: .init()].unsent.insert(path)
        }
    }

    /// Takes a picture away from the provider.
    func withdraw(_ key: ThumbnailKey, _ room: ThumbnailRoom) async {
        guard let storage = room.storage else { return }
        do {
            try await storage.removeThumbnail(key.name)
            rooms[room.container]?.known?.remove(key.name)
            rooms[room.container]?.fresh.remove(key.name)
        } catch {
            rooms[room.container, default: .init()].unremoved.insert(key.name)
        }
    }

    /// Asks all providers what they have, brings what is waited for, and sends what could not be sent.
    func poll() async {
        for room in tools.sync.thumbnailRooms {
            guard let storage = room.storage else { continue }
            do {
                try await poll(room, storage)
            } catch {
                tools.logger.debug("thumbnails: the provider does not answer", metadata: ["error": "\(error)"])
            }
        }
    }

    private func poll(_ room: ThumbnailRoom, _ storage: any ThumbnailStorage) async throws(ProviderError) {
        let container = room.container
        rooms[container, default: .init()].fresh = []
        rooms[container, default: .init()].hasNewWanted = false
        if let listing = try await storage.thumbnails(since: rooms[container]?.cursor) {
            let gone = try await trim(listing, storage)
            let fresh = rooms[container]?.fresh ?? []
            rooms[container]?.known = Set(listing.entries.map(\.name)).subtracting(gone).union(fresh)
            rooms[container]?.cursor = listing.cursor
            await compare(listing, room, storage)
        }
        for name in rooms[container]?.unremoved ?? [] {
            try await storage.removeThumbnail(name)
            rooms[container]?.unremoved.remove(name)
            rooms[container]?.known?.remove(name)
        }
        let known = rooms[container]?.known ?? []
        let here = (rooms[container]?.wanted ?? [:]).filter { known.contains($0.key) }
        for (name, path) in here {
            rooms[container]?.wanted[name] = nil
            await look(at: path)
        }
        for path in rooms[container]?.unsent ?? [] {
            rooms[container]?.unsent.remove(path)
            await look(at: path)
        }
    }

    /// A picture that was given elsewhere wins over one that was made here, and one given here over one made elsewhere.
    private func compare(_ listing: ThumbnailListing, _ room: ThumbnailRoom, _ storage: any ThumbnailStorage) async {
        let container = room.container
        var differing: [ThumbnailKey: ThumbnailListing.Entry] = [:]
        for entry in listing.entries where rooms[container]?.compared[entry.name] != entry {
            guard let key = ThumbnailKey(name: entry.name), let here = tools.home.size(key), here != entry.size else {
                continue
            }
            differing[key] = entry
        }
        guard !differing.isEmpty else { return }
        for (path, key) in documents(of: room) {
            guard let entry = differing[key], let subject = await subject(path), subject.key == key else { continue }
            rooms[container]?.compared[entry.name] = entry
            // Asked again when the provider's is another one.
            guard let bytes = try? await storage.thumbnail(entry.name) ?? nil,
                let picture = ThumbnailMaker.sound(Data(bytes)), let mine = tools.home.read(key)
            else { continue }
            switch (Self.origin(of: picture), Self.origin(of: mine)) {
            case (.given, _): _ = await keep(picture, .given, subject, renews: true, sends: false)
            case (.made, .given): await send(subject, renews: true)
            case (.made, .made): break
            }
        }
    }

    /// Who made a picture that was kept.
    static func origin(of picture: Data) -> ThumbnailOrigin {
        PNGPicture(picture)?.text(ThumbnailOrigin.key).flatMap(ThumbnailOrigin.init) ?? .made
    }

    /// Removes the oldest where there are more than may be.
    ///
    /// - Returns: the names that are gone.
    private func trim(
        _ listing: ThumbnailListing, _ storage: any ThumbnailStorage
    ) async throws(ProviderError) -> Set<String> {
        var sum = listing.entries.reduce(Int64(0)) { $0 + $1.size.bytes }
        guard sum > tools.settings.limit.bytes else { return [] }
        var gone = Set<String>()
        for entry in listing.entries.sorted(by: { $0.stored < $1.stored }) {
            guard sum > tools.settings.limit.bytes / 10 * 9 else { break }
            // What others put there is not ours to remove.
            guard ThumbnailKey(name: entry.name) != nil else { continue }
            try await storage.removeThumbnail(entry.name)
            gone.insert(entry.name)
            sum -= entry.size.bytes
        }
        return gone
    }
}
