/// The methods of queries, but for `find`.
package enum QueryMethods {
    /// Finds items, and tells what changes among them until the call is cancelled.
    package enum Live: WireMethod {
        package static let name = "query.live"

        package struct Parameters: Codable, Sendable {
            /// What is to be found. Without an order, a limit, or counting only.
            package var query: ItemMethods.Find.Parameters
            /// For how long changes are gathered before they are told; 0: not at all.
            package var batchingMilliseconds: Int

            package init(query: ItemMethods.Find.Parameters, batchingMilliseconds: Int) {
                self.query = query
                self.batchingMilliseconds = batchingMilliseconds
            }
        }

        package typealias Partial = Update
        package typealias Result = WireNothing
    }

    /// Finds items, and tells no more than where they are: the fastest way.
    package enum Paths: WireMethod {
        package static let name = "query.paths"

        package typealias Parameters = ItemMethods.Find.Parameters
        package typealias Partial = [WirePath]
        package typealias Result = ItemMethods.Find.Result
    }

    /// What came, changed and went; first what was there at the beginning, in one or more parts, the last with `gathered`.
    package struct Update: Codable, Sendable {
        package var added: [ItemRecord]?
        package var changed: [Change]?
        package var removed: [Removal]?
        /// With the last part of what was there at the beginning: how much that was.
        package var gathered: Int?

        package init(
            added: [ItemRecord]? = nil, changed: [Change]? = nil, removed: [Removal]? = nil, gathered: Int? = nil
        ) {
            self.added = added
            self.changed = changed
            self.removed = removed
            self.gathered = gathered
        }
    }

    package struct Change: Codable, Sendable {
        package var item: ItemRecord
        /// Where it was told to be before.
        package var from: WirePath

        package init(item: ItemRecord, from: WirePath) {
            self.item = item
            self.from = from
        }
    }

    package struct Removal: Codable, Sendable {
        package var id: ItemID
        /// Where it was told to be.
        package var path: WirePath

        package init(id: ItemID, path: WirePath) {
            self.id = id
            self.path = path
        }
    }

    /// What a query tells of an item: what the index knows, and nothing that would have to be looked for.
    package struct ItemRecord: Codable, Sendable, Hashable {
        package var status: ItemStatus
        package var modified: WireTime
        package var changed: WireTime
        package var created: WireTime
        package var added: WireTime
        /// A uniform type identifier.
        package var type: String
        /// The type and all that it conforms to, nearer ones first.
        package var typeTree: [String]
        /// What people know its container by.
        package var containerName: String
        package var tags: [String]
        /// The provider has all of it.
        package var uploaded: Bool
        /// Only its attributes are here.
        package var dataless: Bool

        package init(
            status: ItemStatus, modified: WireTime, changed: WireTime, created: WireTime, added: WireTime, type: String,
            typeTree: [String], containerName: String, tags: [String], uploaded: Bool, dataless: Bool
        ) {
            self.created = created
            self.added = added
            self.type = type
            self.typeTree = typeTree
            self.containerName = containerName
            self.status = status
            self.modified = modified
            self.changed = changed
            self.tags = tags
            self.uploaded = uploaded
            self.dataless = dataless
        }
    }
}
