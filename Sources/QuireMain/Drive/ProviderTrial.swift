import Glibc
import Logging
import QuireCore
import QuireProviders

/// Connects to a provider that is to be added, or is to have another secret.
struct ProviderTrial: Sendable {
    let url: QuireProviders.ProviderURL
    let secret: String?
    var acceptsLossy = false

    /// What a provider was found to be.
    struct Found: Sendable {
        /// What its store calls itself; nil where that cannot be told yet.
        var identity: String?
        /// What there is to say, one sentence each.
        var words: [String] = []
    }

    /// Tells which store is there and, of one on the network, what it can do. A folder need not be there yet.
    ///
    /// - Throws: `.unavailable` in the server's words; `.usage` where an update may be lost and that was not accepted.
    func run() async throws(QuireError) -> Found {
        if case .folder(let path) = url.kind { return await look(at: path) }
        let identity: String
        let provider = url.makeProvider(secret: .known(secret), pace: ListingPace())
        let free: ByteCount?
        do throws(ProviderError) {
            identity = try await provider.connect(expected: nil)
            free = try await provider.freeSpace()
        } catch {
            throw QuireError(
                .unavailable, "\(url) cannot be used: \(error.description)",
                remedy: "Correct it, or choose another provider; nothing was added")
        }
        let capabilities = provider.capabilities
        if capabilities.conditionalWrites == .detected, !acceptsLossy {
            throw QuireError(
                .usage,
                "\(url) may lose an update: it neither has locks nor keeps conditions, or it does not tell that a document "
                    + "has changed, so two devices can overwrite each other",
                remedy: "Choose another provider, or add it all the same with --accept-lossy")
        }
        return Found(identity: identity, words: [Self.words(capabilities, hasQuota: free != nil)])
    }

    /// Marks the folder that is meant: an empty directory, in which its disk is mounted later, is not it.
    private func look(at folder: String) async -> Found {
        guard access(folder, F_OK) == 0 else { return Found() }
        do throws(ProviderError) {
            return Found(identity: try await url.makeProvider().connect(expected: nil))
        } catch {
            return Found(words: ["\(folder) cannot be used as it is: \(error.description)"])
        }
    }

    /// Makes sure that the secret leads to the store that is known; to any where none is.
    ///
    /// - Throws: `.unavailable` in the server's words, where it is another store, too.
    func requireStore(_ known: String?) async throws(QuireError) {
        do throws(ProviderError) {
            _ = try await url.makeProvider(secret: .known(secret), pace: ListingPace()).connect(expected: known)
        } catch {
            throw QuireError(
                .unavailable, "\(url) cannot be used with this secret: \(error.description)",
                remedy: error.isOtherStore
                    ? "Give the secret of the account that keeps the drive; nothing was changed"
                    : "Nothing was changed")
        }
    }

    /// What a provider can do, in a few words.
    static func words(_ capabilities: ProviderCapabilities, hasQuota: Bool) -> String {
        let writes =
            switch capabilities.conditionalWrites {
            case .atomic: "atomic"
            case .locked: "by lock"
            case .detected: "no, it may lose an update"
            case .untried: "not known, it has no room to try"
            }
        func yes(_ value: Bool) -> String { value ? "yes" : "no" }
        func journal(_ capabilities: ProviderCapabilities) -> String {
            if capabilities.tellsChanges { return "yes" }
            return capabilities.announcements ? "among Quire's devices" : "no"
        }
        return "conditional writes: \(writes); resumable uploads: \(yes(capabilities.resumableUploads)); "
            + "times and modes: \(yes(capabilities.attributes)); symbolic links: \(yes(capabilities.symlinks)); "
            + "earlier versions: \(yes(capabilities.earlierVersions)); change journal: \(journal(capabilities)); quota: \(yes(hasQuota)); longest name: \(capabilities.longestName) bytes"
            + folds(capabilities.folding)
    }

    private static func folds(_ folding: NameFolding) -> String {
        let differences = [
            folding.contains(.letterCase) ? "upper and lower case" : nil,
            folding.contains(.normalization) ? "composed and decomposed characters" : nil,
        ].compactMap(\.self)
        return differences.isEmpty ? "" : "; the same to it: \(differences.joined(separator: ", "))"
    }
}
