import FoundationEssentials

/// A path in a message: a string below the drive's root, or `{"base64": "…"}` where its bytes are not UTF-8.
///
/// The root is the empty string. Leading and doubled slashes are dropped when read; `..` is refused.
package struct WirePath: Sendable, Hashable, Codable {
    package var path: RelativePath

    package init(_ path: RelativePath) { self.path = path }

    private enum CodingKeys: CodingKey { case base64 }

    package init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            guard let path = RelativePath(parsing: text) else { throw Self.refused(decoder, text) }
            self.path = path
            return
        }
        let text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .base64)
        guard let data = Data(base64Encoded: text) else { throw Self.refused(decoder, text) }
        let names = data.split(separator: 0x2F).filter { Array($0) != [0x2E] }.map { FileName(Array($0)) }
        guard !names.contains(nil) else { throw Self.refused(decoder, text) }
        self.path = RelativePath(names.compactMap { $0 })
    }

    package func encode(to encoder: any Encoder) throws {
        if let text = String(validating: path.bytes, as: UTF8.self) {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        } else {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(base64, forKey: .base64)
        }
    }

    var base64: String { Data(path.bytes).base64EncodedString() }

    private static func refused(_ decoder: any Decoder, _ text: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a path below the drive: \(text)"))
    }
}
