import Foundation
import Glibc
import Logging
import QuireCore
import QuireIndex
import QuireStore
import QuireSync
import QuireThumbnails

/// What the keeper of thumbnails works with.
struct ThumbnailTools: Sendable {
    let index: MetadataIndex
    let documents: DocumentReader
    let sync: SyncService
    let home: ThumbnailHome
    let cache: ThumbnailCache
    let maker: ThumbnailMaker
    /// Absolute, with no links in it.
    let mountpoint: String
    let settings: ThumbnailSettings
    let logger: Logger
    /// One at a time, behind everything else.
    let pool = BackgroundPool(label: "quire-thumbs", width: 1, niceness: 15)

    /// Larger documents are left alone: they would be copied whole first.
    static let largestDocument: Int64 = 256 << 20

    /// Whether pictures of documents of that media type are made in the background.
    func makesUnasked(_ type: String) -> Bool {
        settings.makes && maker.makes(type) && (settings.drawsText || !maker.drawsText(type))
    }
}

/// A document, and what its thumbnail is called.
struct ThumbnailSubject: Sendable {
    let item: IndexItem
    let room: ThumbnailRoom
    let key: ThumbnailKey
    let place: DocumentPlace
    /// The media type; nil where neither name nor content tells.
    let type: String?
}

/// Makes thumbnails of documents, keeps them in the home, shows them in the user's cache, and sends them to and brings them
/// from providers. What happens to documents happens to their thumbnails.
///
/// Reads the store, never the mount, and never a document's content from a provider.
actor ThumbnailKeeper {
    let tools: ThumbnailTools
    let stop = OnceMark()
    /// Documents with something in the home, by inode, and back.
    private var paths: [UInt64: RelativePath] = [:]
    private var inodes: [RelativePath: UInt64] = [:]
    private var mediaTypes: [ContentType: String?] = [:]
    /// What the home had at the beginning of a walk through all documents, less those that were met; nil when none is made.
    var unmet: Set<String>?
    /// What providers have, as far as they were asked.
    var rooms: [ContainerID: ThumbnailRoomState] = [:]

    /// Is told of files that have, or are about to get, a picture.
    private let track: @Sendable (UInt64) -> Void

    init(tools: ThumbnailTools, track: @escaping @Sendable (UInt64) -> Void) {
        self.tools = tools
        self.track = track
    }

    // MARK: one document

    /// What became of looking at a document.
    enum Outcome: Sendable, Hashable {
        case picture(ThumbnailOrigin)
        /// None can be made of this version.
        case failed
        /// Its content is not here, and its provider has no picture.
        case dataless
        /// Nothing here makes pictures of that kind.
        case unknownKind(String?)
        /// No document, empty, or changing just now.
        case nothing
    }

    /// Sees to a document's thumbnail.
    ///
    /// - Parameter isAsked: somebody waits: also what is not made in the background is made, and the provider asked at once.
    @discardableResult
    func look(at path: RelativePath, isAsked: Bool = false) async -> Outcome {
        let found: IndexItem?
        do { found = try await tools.index.item(at: path) } catch {
            tools.logger.info("a picture is looked at later", metadata: ["path": "\(path)", "error": "\(error)"])
            return .nothing
        }
        guard let item = found else {
            await forget(path)
            return .nothing
        }
        return await look(at: item, isAsked: isAsked)
    }

    /// As `look(at:)` with a path, of what the index told a moment ago: what changed since is told and looked at later.
    @discardableResult
    func look(at item: IndexItem, isAsked: Bool = false) async -> Outcome {
        guard let subject = subject(item) else {
            await forget(item.path)
            return .nothing
        }
        await follow(subject)
        if isAsked || isCandidate(subject.item) { track(subject.item.local.inode) }
        if let given = given(subject) { return await keep(given, .given, subject, renews: true) }
        switch tools.home.state(subject.key) {
        case .picture?:
            await publish(subject)
            return .picture(tools.home.read(subject.key).map(Self.origin) ?? .made)
        case .failed?: return .failed
        case nil: break
        }
        if subject.item.local.isDataless { return await bring(subject, isAsked: isAsked) }
        return await make(subject, isAsked: isAsked)
    }

    /// Nil where no file is at the path.
    func subject(_ path: RelativePath) async -> ThumbnailSubject? {
        ((try? await tools.index.item(at: path)) ?? nil).flatMap(subject)
    }

    /// Nil for anything but a file.
    private func subject(_ item: IndexItem) -> ThumbnailSubject? {
        let path = item.path
        guard item.local.kind == .file, let room = tools.sync.thumbnailRoom(for: path),
            let inner = path.removing(ancestor: room.root)
        else { return nil }
        let type = mediaType(item)
        return ThumbnailSubject(
            item: item, room: room,
            key: ThumbnailKey(path: inner, size: item.local.size, modified: item.local.mtime),
            place: DocumentPlace(
                path: Array(tools.mountpoint.utf8) + [0x2F] + path.bytes, modified: item.local.mtime,
                size: item.local.size, mediaType: type), type: type)
    }

    /// The media type of a document; nil where neither name nor content tells.
    func mediaType(_ item: IndexItem) -> String? {
        if let known = mediaTypes[item.type] { return known }
        let found = item.type.preferredMIMEType
        // As many as there are types; names that say nothing may make up more.
        if mediaTypes.count >= 10_000 { mediaTypes = [:] }
        mediaTypes[item.type] = .some(found)
        return found
    }

    private func make(_ subject: ThumbnailSubject, isAsked: Bool) async -> Outcome {
        let item = subject.item
        guard item.local.size > 0, !item.writersOpen else { return .nothing }
        guard let type = subject.type, tools.maker.makes(type) else { return .unknownKind(subject.type) }
        guard isAsked || tools.makesUnasked(type) && !item.isLocalOnly,
            item.local.size <= ThumbnailTools.largestDocument
        else {
            return .nothing
        }
        let (tools, stop) = (tools, stop)
        do {
            let made = try await tools.pool.run { () throws(ThumbnailFailure) in
                try tools.picture(of: subject, type, isCancelled: { stop.isSet })
            }
            guard let made else {
                try tools.home.noteFailure(subject.key)
                try tools.cache.noteFailure(of: subject.place)
                remember(subject)
                tools.logger.info(
                    "no thumbnail can be made", metadata: ["path": "\(item.path)", "type": "\(type)"])
                return .failed
            }
            return await keep(made, .made, subject, renews: false)
        } catch {
            tools.logger.info("no thumbnail was made", metadata: ["path": "\(item.path)", "error": "\(error)"])
            return .nothing
        }
    }

    /// Keeps a picture, shows it and sends it.
    ///
    /// - Parameter renews: in place of one of the same version.
    func keep(
        _ picture: Data, _ origin: ThumbnailOrigin, _ subject: ThumbnailSubject, renews: Bool, sends: Bool = true
    ) async -> Outcome {
        guard let png = PNGPicture(picture) else { return .failed }
        do {
            // Where it lay is nobody else's business.
            let texts = [(ThumbnailOrigin.key, origin.rawValue), ("Thumb::URI", ""), ("Thumb::MTime", "")]
            let gone = try tools.home.store(png.with(texts), subject.key)
            remember(subject)
            if renews { tools.cache.remove(subject.place.uri) }
            for key in gone { await noteEvicted(key) }
            await publish(subject, renews: renews, sends: sends)
            return .picture(origin)
        } catch {
            tools.logger.warning("a thumbnail cannot be kept", metadata: ["error": "\(error)"])
            return .nothing
        }
    }

    /// Shows the picture in the cache, and sends it to the provider, where either has none.
    private func publish(_ subject: ThumbnailSubject, renews: Bool = false, sends: Bool = true) async {
        remember(subject)
        // The one that is written last.
        if tools.cache.picture(.xxLarge, of: subject.place) == nil, let picture = tools.home.read(subject.key) {
            let (tools, stop) = (tools, stop)
            do {
                try await tools.pool.run { () throws(ThumbnailFailure) in
                    try tools.show(picture, of: subject, isCancelled: { stop.isSet })
                }
            } catch {
                tools.logger.warning("a thumbnail cannot be shown", metadata: ["error": "\(error)"])
            }
        }
        if sends, !subject.item.isLocalOnly { await send(subject, renews: renews) }
    }

    /// A picture that an app or a person put into the cache for the document as it is now, the largest.
    private func given(_ subject: ThumbnailSubject) -> Data? {
        guard tools.cache.mayHavePicture(of: subject.place) else { return nil }
        for size in ThumbnailSize.allCases.reversed() {
            guard let data = tools.cache.picture(size, of: subject.place), let png = PNGPicture(data),
                png.text("Software") == "Quire", png.text(ThumbnailOrigin.key) == "",
                let sound = ThumbnailMaker.sound(data)
            else { continue }
            return sound
        }
        return nil
    }

    /// The documents of a container that have something in the home, and what it is called.
    func documents(of room: ThumbnailRoom) -> [(RelativePath, ThumbnailKey)] {
        inodes.keys.compactMap { path in
            guard tools.sync.thumbnailRoom(for: path)?.container == room.container,
                let inner = path.removing(ancestor: room.root),
                let key = tools.home.key(document: ThumbnailKey.document(inner))
            else { return nil }
            return (path, key)
        }
    }

    // MARK: documents that move and go

    /// A document that has another path, or another version, than its thumbnail.
    private func follow(_ subject: ThumbnailSubject) async {
        let (item, key) = (subject.item, subject.key)
        if let before = paths[item.local.inode], before != item.path, await !isThere(before, inode: item.local.inode),
            let room = tools.sync.thumbnailRoom(for: before), let inner = before.removing(ancestor: room.root),
            let old = tools.home.key(document: ThumbnailKey.document(inner))
        {
            inodes[before] = nil
            let same = ThumbnailKey(path: inner, size: item.local.size, modified: item.local.mtime)
            if old == same, tools.home.state(key) == nil { tools.home.move(old, to: key) }
            await remove(old, at: before, room)
        }
        if let old = tools.home.key(document: key.document), old != key {
            await remove(old, at: item.path, subject.room)
        }
    }

    private func isThere(_ path: RelativePath, inode: UInt64) async -> Bool {
        (try? await tools.index.item(at: path))?.local.inode == inode
    }

    /// Nothing is at this path any more.
    func forget(_ path: RelativePath) async {
        if let inode = inodes.removeValue(forKey: path) { paths[inode] = nil }
        guard let room = tools.sync.thumbnailRoom(for: path), let inner = path.removing(ancestor: room.root),
            let key = tools.home.key(document: ThumbnailKey.document(inner))
        else { return }
        await remove(key, at: path, room)
    }

    private func remove(_ key: ThumbnailKey, at path: RelativePath, _ room: ThumbnailRoom) async {
        if tools.home.key(document: key.document) == key { tools.home.remove(document: key.document) }
        tools.cache.remove(ThumbnailCache.uri(Array(tools.mountpoint.utf8) + [0x2F] + path.bytes))
        await withdraw(key, room)
    }

    private func remember(_ subject: ThumbnailSubject) {
        let (path, inode) = (subject.item.path, subject.item.local.inode)
        if let before = inodes[path], before != inode { paths[before] = nil }
        inodes[path] = inode
        paths[inode] = path
        track(inode)
    }

    /// A walk through all documents ended: what is of none of them goes, also at the providers.
    func removeUnmet() async {
        for document in unmet ?? [] {
            guard let key = tools.home.remove(document: document) else { continue }
            for room in tools.sync.thumbnailRooms where rooms[room.container]?.known?.contains(key.name) ?? false {
                await withdraw(key, room)
            }
        }
        unmet = nil
    }

    /// A walk through all documents begins.
    func beginWalk() { unmet = tools.home.documents }

    /// The drive's copy went to make room: what is shown of it goes, too.
    private func noteEvicted(_ key: ThumbnailKey) async {
        let path = inodes.keys.first { path in
            guard let room = tools.sync.thumbnailRoom(for: path) else { return false }
            return path.removing(ancestor: room.root).map(ThumbnailKey.document) == key.document
        }
        guard let path else { return }
        if let inode = inodes.removeValue(forKey: path) { paths[inode] = nil }
        tools.cache.remove(ThumbnailCache.uri(Array(tools.mountpoint.utf8) + [0x2F] + path.bytes))
    }

    /// The documents among touched files that have, or may get, a picture.
    func candidates(among touched: some Collection<UInt64> & Sendable) async -> [IndexItem] {
        // A file that is gone again is none.
        ((try? await tools.index.items(inodes: touched)) ?? []).filter { item in
            // Most of what programs write never has a picture.
            paths[item.local.inode] != nil || inodes[item.path] != nil || isCandidate(item)
        }
    }

    /// Where documents with pictures were that are gone, and where those are that moved.
    func left(_ news: ThumbnailInbox.News) async -> [RelativePath] {
        var found: [RelativePath] = []
        for inode in news.gone.subtracting(news.touched) {
            guard let path = paths[inode] else { continue }
            found.append(path)
        }
        if !news.moved.isEmpty || news.isIncomplete {
            for (inode, path) in paths where !news.touched.contains(inode) {
                // What cannot be told says nothing of it.
                guard let now = try? await tools.index.items(inode: inode) else { continue }
                if now.isEmpty { found.append(path) }
                for item in now where item.path != path { found.append(item.path) }
            }
        }
        return found
    }
}
