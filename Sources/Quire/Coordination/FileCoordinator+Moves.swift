public import Foundation
import QuireCore
import QuireTransport

/// Inside an accessor.
extension FileCoordinator {
    /// Says that an item is about to be moved. The drive sees renames by itself: this only checks that it is written.
    ///
    /// - Throws: `.usage` outside of a write of the item.
    public func item(at oldURL: URL, willMoveTo newURL: URL) throws(QuireError) {
        _ = try writing(of: oldURL)
    }

    /// Says that an item, or one below it, was moved. The drive has told the presenters already; this has the intents'
    /// URLs follow. Equal URLs do no harm.
    ///
    /// - Throws: `.usage` outside of a write of the item.
    public func item(at oldURL: URL, didMoveTo newURL: URL) async throws(QuireError) {
        try await moved(oldURL, to: newURL)
    }

    /// The synchronous form.
    @available(*, noasync) @_disfavoredOverload
    public func item(at oldURL: URL, didMoveTo newURL: URL) throws(QuireError) {
        try CallerExecutor.run { () throws(QuireError) in try await moved(oldURL, to: newURL) }
    }

    /// Says that ubiquity attributes of an item changed: presenters that observe them are told.
    ///
    /// - Throws: `.usage` outside of a write of the item.
    public func item(
        at url: URL, didChangeUbiquityAttributes attributes: Set<URLResourceKey>
    ) async throws(QuireError) { try await changed(attributes, of: url) }

    /// The synchronous form.
    @available(*, noasync) @_disfavoredOverload
    public func item(at url: URL, didChangeUbiquityAttributes attributes: Set<URLResourceKey>) throws(QuireError) {
        try CallerExecutor.run { () throws(QuireError) in try await changed(attributes, of: url) }
    }

    private func changed(_ attributes: Set<URLResourceKey>, of url: URL) async throws(QuireError) {
        let access = try writing(of: url)
        try await LibraryExecutor.run { () throws(QuireError) in
            let path = try await ItemLocation.of(url).path
            _ = try await access.session.connection.peer.finish(
                CoordinationMethods.DidChangeAttributes.self,
                .init(
                    claim: access.claim, path: WirePath(path), attributes: UbiquityAttributes.names(of: attributes)),
                handle: nil)
        }
    }

    private func moved(_ oldURL: URL, to newURL: URL) async throws(QuireError) {
        let access = try writing(of: oldURL)
        try await LibraryExecutor.run { () throws(QuireError) in
            let (from, to) = (try await ItemLocation.of(oldURL).path, try await ItemLocation.of(newURL).path)
            guard from != to else { return }
            let result = try await access.session.connection.peer.finish(
                CoordinationMethods.DidMove.self,
                .init(claim: access.claim, from: WirePath(from), to: WirePath(to)), handle: nil)
            for (intent, path) in zip(access.intents, result.paths) {
                let location = try await ItemLocation.of(intent.url).path
                guard path.path != location else { continue }
                intent.move(to: access.session.mount.url(path.path, isDirectory: intent.url.hasDirectoryPath))
            }
        }
    }

    /// The access that writes an item, by the URLs that were asked for or that are below them.
    private func writing(of url: URL) throws(QuireError) -> HeldAccess {
        let path = AbsolutePath.normalized(try ItemLocation.path(of: url), in: "/")
        let found = held.first { access in
            access.intents.contains { intent in
                !intent.kind.isReading
                    && AbsolutePath.isInside(path, AbsolutePath.normalized(intent.url.path, in: "/"))
            }
        }
        guard let found else {
            throw QuireError(
                .usage, "\(path) is not being written by this coordinator",
                remedy: "Say that items move inside the accessor of a write of them")
        }
        return found
    }
}
