import QuireCore

/// What answers tell who tries what a store can do.
extension S3Client {
    /// Whether an answer refuses what a condition is against. A store that knows no such condition says so, or does it.
    ///
    /// - Parameter orFails: a store may also fail at it, which is no refusal.
    func refuses(_ answer: HTTPAnswer, orFails: Bool = false) throws(ProviderError) -> Bool {
        if orFails, answer.status == 500 { return false }
        return try [409, 412].contains(sure(answer).status)
    }

    /// An answer that is about what was asked: a store that is busy for a moment must not be taken for one that knows
    /// conditions, nor for one that knows none.
    func sure(_ answer: HTTPAnswer) throws(ProviderError) -> HTTPAnswer {
        guard !answer.provesNothing, answer.status != 403, answer.status != 500 else {
            throw error(answer, "\(address.place) cannot be tried")
        }
        return answer
    }
}
