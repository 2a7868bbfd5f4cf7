extension StringProtocol {
    /// Without white space at its ends.
    var trimmed: String {
        var rest = drop(while: \.isWhitespace)
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}
