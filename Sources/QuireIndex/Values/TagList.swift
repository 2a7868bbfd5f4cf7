/// The tags of an item, as they are in a column: with commas between.
enum TagList {
    /// The names, in their order.
    static func names(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

    /// The column's text. A comma parts what it is in, and empty names are left out.
    static func text(_ names: [String]) -> String { names.flatMap { $0.split(separator: ",") }.joined(separator: ",") }

    /// The column's value; null where none are known.
    static func value(_ names: [String]?) -> SQLValue { names.map { .text(text($0)) } ?? .null }

    /// What one device and the provider make of the tags that both had: what either removed goes, what either added is there. In
    /// the provider's order, so that where this device changed nothing it ends with the provider's, and all devices with the same.
    static func merged(before: [String], here: [String], there: [String]) -> [String] {
        let kept = there.filter { here.contains($0) || !before.contains($0) }
        return kept + here.filter { !there.contains($0) && !before.contains($0) }
    }
}
