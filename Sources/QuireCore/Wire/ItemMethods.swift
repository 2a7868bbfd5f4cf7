/// The methods about items.
package enum ItemMethods {
    /// One item, by its path.
    package struct Target: Codable, Sendable, Hashable {
        package var path: WirePath

        package init(path: WirePath) { self.path = path }
    }

    /// How one item stands.
    package enum PathStatus: WireMethod {
        package static let name = "pathStatus"
        package typealias Parameters = Target
        package typealias Result = ItemStatus
    }

    /// Everything known about one item.
    package enum Info: WireMethod {
        package static let name = "info"
        package typealias Parameters = Target
        package typealias Result = ItemInfo
    }

    /// Items by name and state.
    package enum Find: WireMethod {
        package static let name = "find"

        package struct Parameters: Codable, Sendable {
            /// A query expression; see Documentation/Queries.md.
            package var expression: String?
            /// A shell pattern for the item's own name.
            package var name: String?
            /// Items in any of these states.
            package var states: [ItemState]?
            /// Only items below this directory.
            package var directory: WirePath?
            /// Answer with the number alone.
            package var countOnly: Bool
            /// By which attributes results are ordered, the first first; with a minus sign before it, the greatest first.
            /// Absent: by path.
            package var order: [String]?
            /// At most so many.
            package var limit: Int?

            package init(
                expression: String? = nil, name: String? = nil, states: [ItemState]? = nil, directory: WirePath? = nil,
                countOnly: Bool = false, order: [String]? = nil, limit: Int? = nil
            ) {
                self.order = order
                self.limit = limit
                self.expression = expression
                self.name = name
                self.states = states
                self.directory = directory
                self.countOnly = countOnly
            }
        }

        package typealias Partial = [ItemStatus]

        package struct Result: Codable, Sendable {
            package var count: Int

            package init(count: Int) { self.count = count }
        }
    }

    /// Adds tags to an item, or takes them away; with neither, tells which it has.
    package enum Tag: WireMethod {
        package static let name = "tag"

        package struct Parameters: Codable, Sendable {
            package var path: WirePath
            /// Without commas; each is there once.
            package var add: [String]
            package var remove: [String]

            package init(path: WirePath, add: [String] = [], remove: [String] = []) {
                self.path = path
                self.add = add
                self.remove = remove
            }
        }

        package struct Result: Codable, Sendable {
            /// All that it has now, in the order in which they were added.
            package var tags: [String]

            package init(tags: [String]) { self.tags = tags }
        }
    }

    /// What `download`, `evict`, `pin` and `unpin` did.
    package struct ContentOutcome: Codable, Sendable {
        /// Files that were changed.
        package var files: Int
        /// Files that were left as they are, each with the reason; ten at most.
        package var refused: [Refusal]
        /// How many more were left so; missing where there are none.
        package var refusedMore: Int?

        package init(files: Int = 0, refused: [Refusal] = [], refusedMore: Int? = nil) {
            self.files = files
            self.refused = refused
            self.refusedMore = refusedMore
        }
    }

    /// How much of the content that is brought here has arrived.
    package struct ContentProgress: Codable, Sendable, Hashable {
        /// In bytes, never less than before.
        package var completed: Int64
        /// In bytes: of all files that were not here when the request came.
        package var total: Int64

        package init(completed: Int64, total: Int64) {
            self.completed = completed
            self.total = total
        }
    }

    /// An item that was left alone, and why.
    package struct Refusal: Codable, Sendable, Hashable {
        package var path: WirePath
        package var message: String

        package init(path: WirePath, message: String) {
            self.path = path
            self.message = message
        }
    }

    /// Brings content here; of a directory, all below it.
    package enum Download: WireMethod {
        package static let name = "download"
        package typealias Parameters = Target
        package typealias Partial = ContentProgress
        package typealias Result = ContentOutcome
    }

    /// Leaves only the attributes here; of a directory, of all below it.
    package enum Evict: WireMethod {
        package static let name = "evict"
        package typealias Parameters = Target
        package typealias Result = ContentOutcome
    }

    /// Keeps content here for good.
    package enum Pin: WireMethod {
        package static let name = "pin"
        package typealias Parameters = Target
        package typealias Result = ContentOutcome
    }

    /// Takes `pin` back.
    package enum Unpin: WireMethod {
        package static let name = "unpin"
        package typealias Parameters = Target
        package typealias Result = ContentOutcome
    }

    /// The regular files below a directory with their checksums where recorded.
    package enum Manifest: WireMethod {
        package static let name = "manifest"

        package struct Parameters: Codable, Sendable {
            package var directory: WirePath

            package init(directory: WirePath) { self.directory = directory }
        }

        /// One regular file.
        package struct Entry: Codable, Sendable, Hashable {
            package var path: WirePath
            /// Whether its content is not here.
            package var dataless: Bool
            /// The provider's recorded SHA-256; given for dataless files only, all others are to be read.
            package var checksum: ContentChecksum?

            package init(path: WirePath, dataless: Bool, checksum: ContentChecksum?) {
                self.path = path
                self.dataless = dataless
                self.checksum = checksum
            }
        }

        package typealias Partial = [Entry]
        package typealias Result = Find.Result
    }
}
