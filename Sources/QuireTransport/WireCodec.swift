import FoundationEssentials
import QuireCore

/// Messages to bytes and back.
package enum WireCodec {
    /// One message as one line, its newline included. Members come in alphabetical order.
    package static func line(_ message: some Encodable) throws -> [UInt8] {
        if let line = DirectForms.line(message) { return line }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(message)) + [0x0A]
    }

    /// Reads one message, without its newline.
    package static func decode<Message: Decodable>(_ type: Message.Type, from line: [UInt8]) throws -> Message {
        if let message = DirectForms.read(type, from: line) { return message }
        return try JSONDecoder().decode(type, from: Data(line))
    }

    /// What a decoder's error says, in a form for people.
    package static func explanation(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        let context: DecodingError.Context
        switch error {
        case .keyNotFound(let key, let found):
            return "\(place(found.codingPath))the member \"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found): context = found
        @unknown default: return "\(error)"
        }
        return place(context.codingPath) + context.debugDescription
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "" : path.map(\.stringValue).joined(separator: ".") + ": "
    }
}
