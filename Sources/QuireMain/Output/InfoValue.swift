import QuireCore

/// The value of one attribute of an item, for people and for JSON.
enum InfoValue: Encodable, Equatable {
    case text(String)
    case texts([String])
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    case date(WireTime)
    /// The item has nothing of the kind.
    case none

    static func optional(_ text: String?) -> InfoValue { text.map { .text($0) } ?? .none }

    /// On one line.
    var text: String {
        switch self {
        case .text(let text): text
        case .texts(let texts): texts.isEmpty ? "(none)" : texts.joined(separator: ", ")
        case .integer(let number): "\(number)"
        case .number(let number): number == number.rounded() ? "\(Int64(number))" : "\(number)"
        case .flag(let flag): flag ? "yes" : "no"
        case .date(let date): "\(date)"
        case .none: "(none)"
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .texts(let texts): try container.encode(texts)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .date(let date): try container.encode(date)
        case .none: try container.encodeNil()
        }
    }
}
