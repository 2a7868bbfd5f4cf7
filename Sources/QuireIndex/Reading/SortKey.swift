import QuireCore

/// One result of a query.
struct Found {
    var id: Int64
    /// Nil where it was not kept: it is to be read.
    var path: RelativePath?
}

/// What one result is ordered by, where its path alone does not say.
struct SortKey {
    private let id: Int64
    private let values: [QueryValue?]
    private let order: [QueryOrder]
    /// The path with separators that come before every other byte, so that a directory comes before what lies in it.
    private let place: [UInt8]

    init(_ item: IndexItem, _ query: ItemQuery) {
        id = item.id.rawValue
        let state = query.transfers[item.id] ?? item.state
        values = query.order.map { item.value(of: $0.attribute, state: state) }
        order = query.order
        place = item.path.bytes.map { $0 == 0x2F ? 0 : $0 }
    }

    /// What they belong to, in order.
    static func sorted(_ keys: [SortKey]) -> [Found] {
        keys.sorted(by: precedes).map {
            Found(id: $0.id, path: RelativePath(unchecked: $0.place.map { $0 == 0 ? 0x2F : $0 }))
        }
    }

    private static func precedes(_ one: SortKey, _ other: SortKey) -> Bool {
        for (index, order) in one.order.enumerated() {
            let comparison = QueryValue.order(one.values[index], other.values[index])
            if comparison != 0 { return (comparison < 0) != order.isDescending }
        }
        return one.place.lexicographicallyPrecedes(other.place)
    }
}

extension QueryValue {
    /// Less than, equal to or more than 0; what has no value comes first.
    fileprivate static func order(_ one: QueryValue?, _ other: QueryValue?) -> Int {
        switch (one, other) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (.text(let left)?, .text(let right)?): order(left, right)
        case (.number(let left)?, .number(let right)?): left < right ? -1 : left == right ? 0 : 1
        case (.date(let left)?, .date(let right)?): left < right ? -1 : left == right ? 0 : 1
        case (.flag(let left)?, .flag(let right)?): left == right ? 0 : left ? 1 : -1
        default: 0
        }
    }

    private static func order(_ one: [[UInt8]], _ other: [[UInt8]]) -> Int {
        if one == other { return 0 }
        return one.lexicographicallyPrecedes(other) { $0.lexicographicallyPrecedes($1) } ? -1 : 1
    }
}
