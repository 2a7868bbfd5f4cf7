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

    /// Reads what was written.
    ///
    /// - Parameter place: where the storage is, for people; without a slash at its end.
    init(_ bytes: [UInt8], at place: String) throws(ProviderError) {
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
