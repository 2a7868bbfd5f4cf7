import QuireCore

/// The results of a query, as far as they were told.
struct ResultTable {
    private var items: [ItemID: MetadataItem] = [:]
    private var mount: MountPath?
    /// While gathering anew after the daemon was started again: what was found so far, and what became different.
    private var found: Set<ItemID>?
    private var missed = MetadataQuery.Changes()
    private var inOrder: [MetadataItem]?

    var order: [MetadataQuery.SortDescriptor] = [] { didSet { inOrder = nil } }
    var count: Int { items.count }

    mutating func removeAll() {
        items = [:]
        inOrder = nil
    }

    /// A connection is there: all that there is follows.
    mutating func begin(on mount: MountPath) {
        self.mount = mount
        found = []
        missed = MetadataQuery.Changes()
    }

    /// - Returns: what is to be told; while gathering nothing.
    mutating func apply(_ update: QueryMethods.Update) -> MetadataQuery.Changes {
        guard let mount else { return MetadataQuery.Changes() }
        inOrder = nil
        var changes = MetadataQuery.Changes()
        for record in update.added ?? [] {
            let id = record.status.id
            found?.insert(id)
            if let known = items[id] {
                known.update(record, on: mount)
                changes.changed.append(known)
            } else {
                let item = MetadataItem(record, on: mount)
                items[id] = item
                changes.added.append(item)
            }
        }
        for change in update.changed ?? [] {
            guard let item = items[change.item.status.id] else { continue }
            item.update(change.item, on: mount)
            changes.changed.append(item)
        }
        for removal in update.removed ?? [] {
            if let item = items.removeValue(forKey: removal.id) { changes.removed.append(item) }
        }
        guard found != nil else { return changes }
        missed.added += changes.added
        missed.changed += changes.changed
        return MetadataQuery.Changes()
    }

    /// - Returns: how the results differ from those before the connection was made anew.
    mutating func endGathering() -> MetadataQuery.Changes {
        guard let found else { return MetadataQuery.Changes() }
        for (id, item) in items where !found.contains(id) {
            items[id] = nil
            missed.removed.append(item)
        }
        inOrder = nil
        self.found = nil
        return missed
    }

    /// In order; by path where nothing else decides.
    var sorted: [MetadataItem] {
        mutating get {
            if let inOrder { return inOrder }
            let keys = items.values.map { item in
                (item: item, values: order.map { item.value(forAttribute: $0.attribute) }, path: item.path)
            }
            let sorted = keys.sorted { one, other in
                for (index, descriptor) in order.enumerated() {
                    guard let left = one.values[index], let right = other.values[index] else {
                        if (one.values[index] == nil) == (other.values[index] == nil) { continue }
                        return one.values[index] == nil
                    }
                    if let precedes = left.precedes(right) { return precedes == descriptor.isAscending }
                }
                return one.path < other.path
            }.map(\.item)
            inOrder = sorted
            return sorted
        }
    }
}
