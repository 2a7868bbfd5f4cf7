import QuireCore

/// How listings of everything have gone, at a server that was found to give them.
struct DAVDeepListings: Sendable {
    /// The last one did not come.
    private var isFailing = false

    /// Notes one that came, or that did not although the server lists its directories.
    ///
    /// - Returns: whether it is not worth asking for any more: the server refuses it, or it has not come twice in a row. Once a
    ///   connection may have broken.
    mutating func isOver(after failure: ProviderError?) -> Bool {
        defer { isFailing = failure != nil }
        return failure.map { $0.code != .unavailable || isFailing } ?? false
    }
}
