import QuireCore

/// Names of what is Quire's own at a provider on the network.
enum StoreLayout {
    static let control: RelativePath = ".quire"
    /// Which store this is, as in a folder's `store.json`.
    static let mark: RelativePath = ".quire/store.json"
    static let temporary: RelativePath = ".quire/tmp"
    static let thumbnails: RelativePath = ".quire/thumbnails"
    static let changes: RelativePath = ".quire/changes"

    /// A picture, by a name that `ThumbnailStorage.checkThumbnailName` takes.
    static func thumbnail(_ name: String) -> RelativePath {
        thumbnails.appending(FileName(unchecked: Array("\(name).png".utf8)))
    }

    /// A fresh name for what is being written.
    static func staging() -> RelativePath { temporary.appending(FolderLayout.stagingName()) }

    /// Where the record of that number lies: named with twelve digits, so that names are in the order of numbers.
    static func change(_ number: Int) -> RelativePath {
        let digits = "\(number)"
        let name = String(repeating: "0", count: max(0, 12 - digits.count)) + digits
        return changes.appending(FileName(unchecked: Array(name.utf8)))
    }

    /// The number of a record by its name; nil for other names.
    static func changeNumber(_ name: FileName) -> Int? {
        let text = "\(name)"
        guard text.utf8.count == 12, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
