import QuireCore

/// Tells from the bytes of a name, as they lie in the database, whether it matches a pattern, where that is easily said.
///
/// Patterns of one text between `*` are decided so; of others the longest run of letters rules out names that lack it. Where
/// case or marks are not to count, only names of ASCII are looked at: what others are alike is for `TextFolding`.
struct QuickMatch {
    private let literal: [UInt8]
    /// What may be before and after the literal.
    private let (isFreeBefore, isFreeAfter): (Bool, Bool)
    /// The literal is all that the pattern asks for.
    private let isWhole: Bool
    private let ignoresCase: Bool
    private let needsASCII: Bool

    /// Nil where the pattern is not of the easy kinds.
    ///
    /// - Parameter hasSets: `[` begins a set of characters.
    init?(_ pattern: String, hasSets: Bool, ignoresCase: Bool = false, ignoresDiacritics: Bool = false) {
        needsASCII = ignoresCase || ignoresDiacritics
        let star = UInt8(ascii: "*")
        let bytes = Array(pattern.utf8)
        let inner = bytes.drop { $0 == star }
        let last = inner.lastIndex { $0 != star }.map { inner[...$0] } ?? []
        let special = Array("*?\\".utf8) + (hasSets ? Array("[".utf8) : [])
        isWhole = !last.contains(where: special.contains) && (!needsASCII || last.allSatisfy { $0 < 0x80 })
        if isWhole {
            self.ignoresCase = ignoresCase
            literal = ignoresCase ? last.map(\.asciiLowercased) : Array(last)
            (isFreeBefore, isFreeAfter) = (inner.count < bytes.count, last.endIndex < bytes.count)
        } else {
            let runs = PatternShape(pattern, hasSets: hasSets).runs
            guard let longest = runs.max(by: { $0.count < $1.count }) else { return nil }
            // The runs are in lower case.
            self.ignoresCase = true
            literal = longest
            (isFreeBefore, isFreeAfter) = (true, true)
        }
    }

    /// Whether the name matches; nil where that is for the pattern itself to say.
    func decision(_ name: UnsafeRawBufferPointer) -> Bool? {
        if needsASCII, name.contains(where: { $0 >= 0x80 }) { return nil }
        guard isFound(in: name) else { return false }
        return isWhole ? true : nil
    }

    private func isFound(in name: UnsafeRawBufferPointer) -> Bool {
        let last = name.count - literal.count
        guard last >= 0 else { return false }
        switch (isFreeBefore, isFreeAfter) {
        case (false, false): return last == 0 && isFound(in: name, at: 0)
        case (false, true): return isFound(in: name, at: 0)
        case (true, false): return isFound(in: name, at: last)
        case (true, true): return (0...last).contains { isFound(in: name, at: $0) }
        }
    }

    private func isFound(in name: UnsafeRawBufferPointer, at start: Int) -> Bool {
        for (index, wanted) in literal.enumerated() {
            let byte = name[start + index]
            guard (ignoresCase ? byte.asciiLowercased : byte) == wanted else { return false }
        }
        return true
    }
}
