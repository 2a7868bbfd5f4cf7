import QuireCore
import QuireIndex

/// What the command line asks of the metadata index. Reads answer for what was committed: `settle` first.
protocol DriveCatalog: Sendable {
    /// Returns when every event recorded before the call is committed.
    func settle() async

    /// Returns when the index knows all items: it may just be built anew.
    func waitUntilWhole() async throws

    /// Runs `body` where the index reads: several reads change threads once.
    func reading<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value

    /// The item at a path below the drive's root.
    func entry(at path: RelativePath) async throws -> CatalogEntry?

    /// The items below a directory, by path.
    func entries(below directory: RelativePath) async throws -> [CatalogEntry]

    /// The ids of what matches, in the query's order, and the first items of it.
    func search(_ query: ItemQuery, first: Int) async throws -> (ids: [ItemID], first: [CatalogEntry])

    /// Tells the paths of what matches, in the query's order, by parts, and returns their number.
    func paths(_ query: ItemQuery, _ body: ([RelativePath]) async throws -> Void) async throws -> Int

    /// Those of the items that are there, and match the query still, in this order.
    func entries(_ ids: ArraySlice<ItemID>, matching query: ItemQuery?) async throws -> [CatalogEntry]

    /// How many items match.
    func count(_ query: ItemQuery) async throws -> Int

    /// What lies directly in a directory.
    func children(of directory: RelativePath) async throws -> [CatalogEntry]

    /// All items but the root.
    func count() async throws -> Int

    /// Paths of conflict copies, found by their names.
    func conflictCopies() async throws -> [RelativePath]

    func setPinned(_ item: ItemID, _ isPinned: Bool) async throws
    func setTags(_ item: ItemID, _ tags: [String]) async throws
    /// Returns the tags that the item has then; nil where it is gone.
    func changeTags(_ item: ItemID, adding: [String], removing: [String]) async throws -> [String]?
    /// Whether a file with this inode may have tags; false where it has none. Answers at once.
    func mayHaveTags(inode: UInt64) -> Bool
}

/// One item as the index knows it.
struct CatalogEntry: Sendable, Hashable {
    var path: RelativePath
    var id: ItemID
    var kind: FileKind
    var size: Int64
    var mode: UInt16
    var mtime: FileTime
    var ctime: FileTime
    var inode: UInt64
    var container: ContainerID
    /// What the provider has of it; nil while it has nothing.
    var base: BaseRecord?
    var isDataless: Bool
    /// Its local state is not the provider's.
    var isPending: Bool
    var isPinned: Bool
    var tags: [String]
    /// Without what only the sync engine knows (uploading, downloading).
    var state: ItemState
    /// A parked failure.
    var error: String?
    var errorSince: FileTime?
    /// What its content is, by name or, where that says nothing and it is here, by content.
    var type: ContentType
    var created: FileTime
    var added: FileTime
    /// Another where the content is another; of a directory, always the same.
    var generation: Int64
}
