import Foundation
import QuireCore

/// Makes texts alike that differ in case or marks only.
struct TextFolding: Sendable, Hashable {
    let ignoresCase: Bool
    let ignoresDiacritics: Bool

    /// Without case and marks.
    static let all = TextFolding(ignoresCase: true, ignoresDiacritics: true)

    /// What is not UTF-8 has letters of ASCII only.
    func folded(_ bytes: [UInt8]) -> [UInt8] {
        guard ignoresCase || ignoresDiacritics else { return bytes }
        // Most names; Foundation takes microseconds for each.
        if bytes.allSatisfy({ $0 < 0x80 }) { return ignoresCase ? bytes.map { $0.asciiLowercased } : bytes }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return ignoresCase ? bytes.map { $0.asciiLowercased } : bytes
        }
        return Array(folded(text).utf8)
    }

    func folded(_ text: String) -> String {
        var options: String.CompareOptions = []
        if ignoresCase { options.insert(.caseInsensitive) }
        if ignoresDiacritics { options.insert(.diacriticInsensitive) }
        return options.isEmpty ? text : text.folding(options: options, locale: nil)
    }
}
