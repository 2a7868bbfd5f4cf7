import Glibc
import QuireCore

/// The virtual extended attributes `user.quire.*`, answered from the index.
struct ItemAttributes: ItemAttributeSource {
    let view: DriveView
    /// The drive's home directory, which the root's attribute `home` tells: how the client library gets from a path on the
    /// mount to the control socket.
    var home: String?
    /// Shows, by `thumbnail`, where the largest picture lies; not among the names that are listed.
    var thumbnails: LateThumbnails?

    static let names = [
        "id", "state", "version", "provider", "conflicts", "pinned", "tags", "type", "created", "added", "generation",
        "uploaded", "percent-downloaded", "percent-uploaded", "container", "error",
    ]

    func mayHaveTags(inode: UInt64) -> Bool { view.catalog.mayHaveTags(inode: inode) }

    func attributeNames(at path: RelativePath) async -> [String] { Self.names }

    func attribute(_ name: String, at path: RelativePath) async -> [UInt8]? {
        if name == "home", path.isRoot { return home.map { Array($0.utf8) } }
        if name == "thumbnail" { return await thumbnails?.keeper?.largestFile(path).map { Array($0.utf8) } }
        // A file that is just being made is in the index when the next request comes; until then it has no attributes.
        guard Self.names.contains(name), let text = try? await text(name, at: path) else { return nil }
        return Array(text.utf8)
    }

    private func text(_ name: String, at path: RelativePath) async throws -> String? {
        let entry = try await view.entry(at: path)
        switch name {
        case "id": return entry.id.description
        case "state": return view.status(entry).state.rawValue
        case "version": return entry.base?.version.rawValue ?? ""
        case "provider": return view.providerName(entry.container)
        case "conflicts": return "\(try await view.copies(of: path).count)"
        case "pinned": return entry.isPinned ? "1" : "0"
        case "tags": return entry.tags.joined(separator: ",")
        case "error": return entry.error ?? ""
        default: return text(name, try await view.details(entry))
        }
    }

    private func text(_ name: String, _ details: ItemDetails) -> String? {
        switch name {
        case "type": details.type
        case "created": "\(details.created)"
        case "added": "\(details.added)"
        case "generation": details.generation ?? ""
        case "uploaded": details.uploaded ? "1" : "0"
        case "percent-downloaded": "\(Int(details.percentDownloaded))"
        case "percent-uploaded": "\(Int(details.percentUploaded))"
        case "container": details.containerName
        default: nil
        }
    }

    func setAttribute(_ name: String, to value: [UInt8]?, at path: RelativePath) async -> Int32 {
        if name == "thumbnail" {
            thumbnails?.inbox.noteGiven(path)
            return 0
        }
        guard ["pinned", "tags"].contains(name) else { return EPERM }
        guard let text = String(validating: value ?? [], as: UTF8.self) else { return EINVAL }
        do {
            let entry = try await view.entry(at: path)
            switch (name, text) {
            case ("pinned", "1"): try await view.catalog.setPinned(entry.id, true)
            case ("pinned", "0"), ("pinned", ""): try await view.catalog.setPinned(entry.id, false)
            case ("pinned", _): return EINVAL
            default: try await view.catalog.setTags(entry.id, Self.tags(text))
            }
            return 0
        } catch let error as QuireError {
            return error.code == .notFound ? ENOENT : EIO
        } catch {
            return EIO
        }
    }

    /// Tags in the order given, each once, blanks around them dropped.
    static func tags(_ text: String) -> [String] {
        var tags: [String] = []
        for part in text.split(separator: ",") {
            let tag = String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            if !tag.isEmpty, !tags.contains(tag) { tags.append(tag) }
        }
        return tags
    }
}
