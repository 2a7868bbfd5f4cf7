import QuireCore

/// Two names that are one place where names are folded: what is written under one is then found under the other.
struct FoldingTrial: Sendable {
    let folding: NameFolding
    private let endings: (written: String, other: String)

    static let letterCase = FoldingTrial(folding: .letterCase, endings: ("-Case", "-cASE"))
    static let normalization = FoldingTrial(folding: .normalization, endings: ("-\u{E9}", "-e\u{301}"))
    static let all = [letterCase, normalization]

    /// - Parameter name: different every time.
    func written(_ name: FileName) -> FileName { name.appending(endings.written) }
    func other(_ name: FileName) -> FileName { name.appending(endings.other) }
}

extension FileName {
    /// Without upper-case letters.
    var lowercased: FileName { string.flatMap { FileName(Array($0.lowercased().utf8)) } ?? self }

    fileprivate func appending(_ ending: String) -> FileName { FileName(unchecked: bytes + Array(ending.utf8)) }
}

extension RelativePath {
    /// Without upper-case letters.
    var lowercased: RelativePath { components.reduce(.root) { $0.appending($1.lowercased) } }
}
