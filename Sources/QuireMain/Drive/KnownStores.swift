import QuireCore
import QuireStore
import QuireSync
import QuireTransport

/// What the storage at each provider's URL called itself when it was first connected: `stores/DIGITS.json` in the home.
///
/// It belongs to the URL: neither what else a provider is called matters, nor whether the index was built anew. Apart from the
/// configuration, which is the user's to write and may be read-only.
struct KnownStores: Sendable {
    private let directory: String

    init(home: String) { directory = "\(home)/stores" }

    private struct Entry: Codable {
        var format: Int
        var identity: String
        var url: String
    }

    private static let format = 1

    /// Nil for a URL at which nothing was connected yet.
    ///
    /// - Throws: `.unavailable`, naming the file, where it cannot be read or a newer version wrote it.
    func identity(at url: String) throws(QuireError) -> String? {
        let path = path(url)
        guard let bytes = try DurableFile.read(path) else { return nil }
        guard let entry = try? WireCodec.decode(Entry.self, from: bytes), !entry.identity.isEmpty, entry.url == url
        else {
            throw QuireError(
                .unavailable, "\(path) is damaged: it says which store is at \(url)",
                remedy: "Remove it where the right one is there")
        }
        guard entry.format <= Self.format else {
            throw QuireError(
                .unavailable, "\(path) was made by a newer Quire (format \(entry.format))",
                remedy: "Use the newer version")
        }
        return entry.identity
    }

    /// Keeps it, for good when this returns; writes nothing where it is kept already.
    func note(_ identity: String, at url: String) throws(QuireError) {
        guard try self.identity(at: url) != identity else { return }
        let entry = Entry(format: Self.format, identity: identity, url: url)
        do {
            try DurableFile.replace(path(url), with: WireCodec.line(entry))
        } catch let error as QuireError {
            throw error
        } catch {
            throw QuireError(.failed, "\(path(url)): \(error)")
        }
    }

    /// Forgets it: whatever is at the URL next is the store there.
    func forget(_ url: String) throws(QuireError) { try DurableFile.remove(path(url)) }

    /// Where it is written down which store is at a URL.
    func path(_ url: String) -> String {
        "\(directory)/\(ContentHasher.checksum(of: Array(url.utf8)).description.prefix(32)).json"
    }
}

/// The store of one provider, as the home knows it.
struct KnownStore: StoreIdentity {
    let stores: KnownStores
    let url: String
    /// What it has to call itself whatever is known.
    let given: String?
    /// Notes which store was found, here and elsewhere.
    var connected: (@Sendable (String) async throws(QuireError) -> Void)?

    func known() throws(QuireError) -> String? { if let given { given } else { try stores.identity(at: url) } }
    func note(_ identity: String) async throws(QuireError) {
        if let connected { try await connected(identity) } else { try stores.note(identity, at: url) }
    }
}
