/// One request under way, which ends when it is let go of.
protocol HTTPExchange {
    /// Whether the head of its answer came.
    var hasAnswer: Bool { get }

    /// Waits for the head and a portion of the body. The next is only read from the connection once it is asked for, but
    /// for about a portion. Ends at once where the calling task is cancelled.
    ///
    /// - Parameter most: bytes that are a full portion. It has more where more came at once.
    /// - Throws: what the request failed with. Not to be called again after that, nor after the last portion.
    mutating func take(most: Int) async throws -> AnswerPortion
}
