/// Why a claim was not granted.
package struct CoordinationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds, closed so that callers switch exhaustively.
    package enum Code: Sendable, Equatable {
        /// Waiting would never end: each of these waits for the next, the last for the first. The first failed.
        case deadlock(cycle: [ClaimReport])
        /// The deadline passed first.
        case deadline
        /// Cancelled by the caller, or its client went away.
        case cancelled
        /// A presenter of the item could not save, or not let it be deleted.
        case refused(reason: String)
        /// The request makes no sense.
        case invalid(reason: String)
    }

    package let code: Code

    package init(_ code: Code) { self.code = code }

    /// What failed and what to do.
    package var description: String {
        switch code {
        case .deadlock(let cycle):
            "waiting would never end: " + cycle.map(\.summary).joined(separator: " waits for ")
                + ", which waits for the first; ask for all items in one request"
        case .deadline: "others kept the item in use until the deadline; `quire coordination` shows who"
        case .cancelled: "cancelled while waiting"
        case .refused(let reason): "an app that has the item open refused: \(reason)"
        case .invalid(let reason): "invalid request: \(reason)"
        }
    }
}
