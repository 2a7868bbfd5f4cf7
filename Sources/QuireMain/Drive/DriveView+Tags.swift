import QuireCore

extension DriveView {
    /// Adds and removes tags; returns all that the item has then.
    func changeTags(_ change: ItemMethods.Tag.Parameters) async throws -> [String] {
        for tag in change.add { try TagName.check(tag) }
        let entry = try await entry(at: change.path.path)
        guard !change.add.isEmpty || !change.remove.isEmpty else { return entry.tags }
        // All are one attribute, and those have an end.
        let length = (entry.tags + change.add).reduce(0) { $0 + $1.utf8.count + 1 }
        guard length <= TagName.longestList else {
            throw QuireError(.usage, "\(entry.path) would have more than \(TagName.longestList) bytes of tags")
        }
        let tags = try await catalog.changeTags(entry.id, adding: change.add, removing: change.remove)
        guard let tags else { throw QuireError(.notFound, "nothing is at \(entry.path) on the drive any more") }
        return tags
    }
}

/// What a tag may be.
enum TagName {
    static let longest = 255
    /// What one extended attribute holds.
    static let longestList = 60_000

    static func check(_ tag: String) throws(QuireError) {
        let isPlain = tag.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "," }
        guard !tag.isEmpty, tag.utf8.count <= longest, isPlain, tag.first != " ", tag.last != " " else {
            throw QuireError(
                .usage, "\"\(DisplayBytes.escaped(Array(tag.utf8)))\" cannot be a tag",
                remedy: "Tags have 1 to \(longest) bytes, no commas, no control characters, and no blanks around them")
        }
    }
}
