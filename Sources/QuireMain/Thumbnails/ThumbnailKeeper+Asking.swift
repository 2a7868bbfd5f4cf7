import Foundation
import QuireCore
import QuireIndex
import QuireThumbnails

/// What the control socket and the driver ask of the keeper.
extension ThumbnailKeeper {
    /// Where a document's thumbnail lies; made or brought first where there is none.
    ///
    /// - Throws: `.notFound` where nothing is at the path; `.unavailable` with what can be done about it where there is no
    ///   picture; `.busy` while the document is being written.
    func show(_ path: RelativePath) async throws(QuireError) -> ThumbnailMethods.Show.Result {
        await settle()
        guard let subject = await subject(path) else { throw missing(path) }
        let outcome = await look(at: path, isAsked: true)
        guard case .picture(let origin) = outcome else { throw refusal(outcome, path) }
        let pictures = ThumbnailSize.allCases.filter { tools.cache.picture($0, of: subject.place) != nil }
        guard !pictures.isEmpty else {
            throw QuireError(
                .failed, "the thumbnail of \(path) cannot be written to \(tools.cache.directory.path)",
                remedy: "See the daemon's log")
        }
        return .init(
            pictures: pictures.map { .init(size: $0.rawValue, file: tools.cache.file(subject.place.uri, $0).path) },
            origin: origin.rawValue)
    }

    /// Where a picture goes that shall become the document's thumbnail, and what it must say.
    func place(_ path: RelativePath) async throws(QuireError) -> ThumbnailMethods.Place.Result {
        await settle()
        guard let subject = await subject(path) else { throw missing(path) }
        return .init(
            uri: subject.place.uri, modified: subject.place.modified, directory: tools.cache.directory.path)
    }

    /// Takes what was put there.
    ///
    /// - Throws: `.conflict` where the document has changed since; `.notFound`.
    func adopt(_ path: RelativePath) async throws(QuireError) -> WireNothing {
        await settle()
        guard await subject(path) != nil else { throw missing(path) }
        guard await look(at: path) == .picture(.given) else {
            throw QuireError(
                .conflict, "\(path) has changed meanwhile, or the picture given for it is damaged",
                remedy: "Give it one again")
        }
        return WireNothing()
    }

    /// The largest picture that is there; nothing is made or brought for it.
    func largestFile(_ path: RelativePath) async -> String? {
        guard let subject = await subject(path) else { return nil }
        // Written last: all are there when it is.
        guard tools.cache.picture(.xxLarge, of: subject.place) != nil else { return nil }
        return tools.cache.file(subject.place.uri, .xxLarge).path
    }

    private func missing(_ path: RelativePath) -> QuireError {
        QuireError(.notFound, "no document is at \(path) on the drive")
    }

    private func refusal(_ outcome: Outcome, _ path: RelativePath) -> QuireError {
        let give = "give it one: quire thumbnail \(path) --set PICTURE.png"
        return switch outcome {
        case .failed:
            QuireError(
                .unavailable, "\(path) has no thumbnail: no program here could make one of its content",
                remedy: "Change the document, or \(give)")
        case .dataless:
            QuireError(
                .unavailable, "\(path) has no thumbnail: its content is not here, and its provider has none",
                remedy: "Bring its content here: quire download \(path)")
        case .unknownKind(let type):
            QuireError(
                .unavailable, "\(path) has no thumbnail: nothing here makes one of \(type ?? "files with such a name")",
                remedy: "Install a thumbnailer for it, or \(give)")
        case .nothing, .picture:
            QuireError(
                .busy, "\(path) has no thumbnail: it is empty, too large, or being written",
                remedy: "Try again when it is closed, or \(give)")
        }
    }
}
