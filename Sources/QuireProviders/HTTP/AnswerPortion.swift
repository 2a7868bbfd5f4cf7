import NIOHTTP1

/// A portion of an answer's body, with its head.
struct AnswerPortion: Sendable {
    let answer: HTTPAnswer
    /// Empty only where nothing is left.
    let piece: BodyPiece
    /// Whether that was the last.
    let isLast: Bool

    /// Who waits for a body over a slow connection is not kept waiting for a full portion.
    private static let longestGathering = Duration.milliseconds(20)

    /// Whether so many bytes are a full portion. Of a refusal only the words are wanted.
    static func isFull(_ count: Int, of answer: HTTPAnswer, most: Int) -> Bool {
        count >= (answer.isSuccess ? most : ServerWords.limit)
    }

    /// Whether so many bytes are handed on although more may come.
    ///
    /// - Parameter begun: since when they are waited for.
    static func isDue(_ count: Int, of answer: HTTPAnswer, most: Int, since begun: ContinuousClock.Instant) -> Bool {
        if isFull(count, of: answer, most: most) { return true }
        return answer.isSuccess && count > 0 && ContinuousClock.now - begun >= longestGathering
    }
}

extension HTTPFields {
    init(_ headers: HTTPHeaders) { self.init(headers.map { (name: $0.name, value: $0.value) }) }
}
