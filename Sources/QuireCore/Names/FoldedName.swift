/// A name as a provider that folds names sees it: equal for those that are one place there.
///
/// Cases are compared by Unicode's full lower-case mapping. Storages have tables of their own, of the year they were made:
/// names that differ in what only those take for equal are found when the provider refuses the second one.
package enum FoldedName: Hashable, Sendable {
    case bytes([UInt8])
    /// Equal where it is canonically equivalent, as texts are in Swift.
    case text(String)

    /// The name, without the differences that `folding` tells of. One that is no UTF-8 equals itself only.
    package init(_ name: FileName, _ folding: NameFolding) {
        guard !folding.isEmpty, var text = name.string else {
            self = .bytes(name.bytes)
            return
        }
        if folding.contains(.letterCase) { text = text.lowercased() }
        self = folding.contains(.normalization) ? .text(text) : .bytes(Array(text.utf8))
    }
}
