import FoundationEssentials
import QuireCore

/// What `.quire/store.json` at a provider says: which store this is.
struct StoreMark: Codable, Equatable {
    /// The newest format this code knows.
    static let currentFormat = 1

    var format: Int
    /// A UUID, drawn when the storage was first used.
    var identity: String

    /// A mark of a new store.
    static func fresh() -> StoreMark {
        StoreMark(format: currentFormat, identity: UUID().uuidString.lowercased())
    }

    /// What is written.
    var bytes: [UInt8] { Array("{\"format\":\(format),\"identity\":\"\(identity)\"}\n".utf8) }

    private init(format: Int, identity: String) {
        self.format = format
        self.identity = identity
    }

    /// Most bytes that one has, with room for later formats.
    static let longest = 4096
    /// Most bytes of an answer that are looked at, to say what it is: pages are longer than marks.
    static let longestAnswer = 1 << 20

    /// What any mark has some of.
    private struct Parts: Decodable {
        var format: Int?
        var identity: String?
    }

    /// Whether this is no mark, and none that was cut or overwritten with nothing, either.
    private static func isForeign(_ bytes: [UInt8]) -> Bool {
        if bytes.count > longest { return true }
        guard let first = bytes.first(where: { !" \t\r\n".utf8.contains($0) }), first != 0 else { return false }
        guard first == UInt8(ascii: "{") else { return true }
        guard let parts = try? JSONDecoder().decode(Parts.self, from: Data(bytes)) else { return false }
        return parts.format == nil && parts.identity == nil
    }

    /// Reads what was written.
    ///
    /// - Parameters:
    ///   - place: where the storage is, for people; without a slash at its end.
    ///   - isAnswer: something on the network has answered so, which need not be the store.
    init(_ bytes: [UInt8], at place: String, isAnswer: Bool = false) throws(ProviderError) {
        if isAnswer, Self.isForeign(bytes) {
            throw ProviderError(
                .unavailable,
                "something else than the store answered at \(place), such as a login page: what came as "
                    + ".quire/store.json is no mark of Quire's; sign in to the network, or correct the provider's URL")
        }
        guard let found = try? JSONDecoder().decode(StoreMark.self, from: Data(bytes)), !found.identity.isEmpty else {
            throw ProviderError(
                .unavailable, "\(place)/.quire/store.json is damaged; restore it, or remove it to begin anew there")
        }
        guard found.format <= Self.currentFormat else {
            throw ProviderError(
                .unavailable,
                "\(place) was set up by a newer version of Quire (format \(found.format)); update Quire here")
        }
        self = found
    }
}
