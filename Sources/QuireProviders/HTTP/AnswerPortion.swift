import NIOHTTP1

/// A portion of an answer's body, with its head.
struct AnswerPortion: Sendable {
    let answer: HTTPAnswer
    /// Empty only where nothing is left.
    let piece: BodyPiece
    /// Whether that was the last.
    let isLast: Bool

    /// Who waits for a body over a slow connection is not kept waiting for a full portion.
    static let longestGathering = Duration.milliseconds(20)
}

extension HTTPFields {
    init(_ headers: HTTPHeaders) { self.init(headers.map { (name: $0.name, value: $0.value) }) }
}
