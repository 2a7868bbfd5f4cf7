import Crypto
import QuireCore

/// Objects that are no documents: what `S3Vacancy` puts into the places of directories. Known by their entity tags, as
/// listings have nothing else; nobody else writes such content.
enum S3Sign: String, CaseIterable {
    /// Nothing is there.
    case vacancy
    /// A directory, at the key without a slash.
    case directory

    var content: [UInt8] { Array("Quire \(rawValue) 5f0d1e6a9c3b47d28e1fa4b60c7d9352\n".utf8) }

    var version: ProviderVersion {
        switch self {
        case .vacancy: Self.vacancyVersion
        case .directory: Self.directoryVersion
        }
    }

    private static let vacancyVersion = digest(.vacancy)
    private static let directoryVersion = digest(.directory)

    private static func digest(_ sign: S3Sign) -> ProviderVersion {
        ProviderVersion(Hexadecimal.encode(Array(Insecure.MD5.hash(data: sign.content))))
    }

    private init?(entityTag: String) {
        guard let sign = Self.allCases.first(where: { $0.version.rawValue == entityTag }) else { return nil }
        self = sign
    }

    /// What an object of a listing stands for; nil for a document or a marker.
    init?(_ object: S3Object) { self.init(entityTag: object.entityTag) }

    /// What an answer about an object says.
    init?(_ answer: HTTPAnswer) { self.init(entityTag: S3EntityTag.plain(answer.fields["ETag"] ?? "")) }
}
