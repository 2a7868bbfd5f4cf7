import QuireCore

/// An item that many queries look at: what they ask of it is found out once.
final class LiveItem {
    let item: IndexItem
    /// What the sync engine does now included.
    let state: ItemState
    /// Of what is asked for, what its content has.
    let words: Set<WordPattern>
    private var values: [QueryAttribute: QueryValue?] = [:]

    init(_ item: IndexItem, transfers: [ItemID: ItemState], words: Set<WordPattern> = []) {
        self.item = item
        self.words = words
        state = transfers[item.id] ?? item.state
    }

    func value(_ attribute: QueryAttribute) -> QueryValue? {
        if let known = values[attribute] { return known }
        let value = item.value(of: attribute, state: state)
        values[attribute] = value
        return value
    }

    /// Of all that clients are told; two that are alike are told once.
    lazy var digest: Int = {
        var hasher = Hasher()
        hasher.combine(item.path)
        hasher.combine(item.local.kind)
        hasher.combine(item.local.size)
        hasher.combine(item.local.mode)
        hasher.combine(item.local.mtime)
        hasher.combine(item.local.ctime)
        hasher.combine(item.local.isDataless)
        hasher.combine(item.container)
        hasher.combine(item.base?.version)
        hasher.combine(item.difference)
        hasher.combine(item.isPinned)
        hasher.combine(item.tags)
        hasher.combine(item.type)
        hasher.combine(state)
        return hasher.finalize()
    }()
}

extension ItemQuery {
    /// Whether the item is one of those that are asked for, wherever it lies.
    func matches(_ item: LiveItem) -> Bool {
        if let nameGlob, !nameGlob.matches(item.item.path.name?.bytes ?? []) { return false }
        if !states.isEmpty, !states.contains(item.state) { return false }
        return predicate?.matches(words: item.words) { item.value($0) } ?? true
    }

    /// Whether the item is one of those that are asked for, wherever it lies.
    ///
    /// - Parameter words: what its content has of what is asked for.
    package func matches(_ item: IndexItem, words: Set<WordPattern> = []) -> Bool {
        matches(LiveItem(item, transfers: transfers, words: words))
    }
}

extension QueryPredicate {
    func asks(for wanted: QueryAttribute) -> Bool {
        switch self {
        case .all(let parts), .any(let parts): parts.contains { $0.asks(for: wanted) }
        case .not(let part): part.asks(for: wanted)
        case .compare(let attribute, _, _), .range(let attribute, _, _): attribute == wanted
        }
    }
}
