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
        guard let path = Self.path(base64: text) else { throw Self.refused(decoder, text) }
        self.path = path
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

    var base64: String { Base64.text(path.bytes) }

    /// Nil where it is no path below the drive.
    static func path(base64: String) -> RelativePath? {
        guard let bytes = Base64.bytes(base64) else { return nil }
        let names = bytes.split(separator: 0x2F).filter { Array($0) != [0x2E] }.map { FileName(Array($0)) }
        return names.contains(nil) ? nil : RelativePath(names.compactMap { $0 })
    }

    private static func refused(_ decoder: any Decoder, _ text: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a path below the drive: \(text)"))
    }
}
