import QuireCore

/// Makes SQL of a query. No text of the query is part of it: all are bound values.
struct QueryCompiler {
    /// What the sync engine does with items now.
    let transfers: [ItemID: ItemState]
    /// How often parts of names are met.
    let frequencies: TrigramFrequencies

    /// More is left to be tested item by item: SQLite bounds the depth and the values of a statement.
    static let mostComparisons = 100

    /// The condition for all that a query asks for but the directory.
    func condition(_ query: ItemQuery) -> QueryCondition {
        var parts: [QueryCondition] = []
        if let glob = query.nameGlob {
            parts.append(name(PatternShape(glob.pattern, hasSets: true), .glob(glob), ignoresCase: false))
        }
        if !query.states.isEmpty { parts.append(state { query.states.contains($0) }) }
        var comparisons = query.nameGlob == nil ? 0 : 1
        if let predicate = query.predicate {
            let count = predicate.comparisons(upTo: Self.mostComparisons + 1)
            parts.append(count > Self.mostComparisons ? .unknown : compile(predicate, negated: false))
            comparisons += count
        }
        var condition = QueryCondition.all(parts)
        condition.isCommon = comparisons <= 1 && query.states.isEmpty && transfers.isEmpty
        return condition
    }

    private func compile(_ predicate: QueryPredicate, negated: Bool) -> QueryCondition {
        switch predicate {
        case .not(let part): return compile(part, negated: !negated)
        case .all(let parts):
            let conditions = parts.map { compile($0, negated: negated) }
            return negated ? .any(conditions) : .all(conditions)
        case .any(let parts):
            let conditions = parts.map { compile($0, negated: negated) }
            return negated ? .all(conditions) : .any(conditions)
        case .compare(let attribute, .notEqual, let operand):
            let condition = comparison(attribute, .equal, operand)
            return negated ? condition : condition.negated
        case .compare(let attribute, let comparison, let operand):
            let condition = self.comparison(attribute, comparison, operand)
            return negated ? condition.negated : condition
        case .range(let attribute, let low, let high):
            let condition = QueryCondition.all([
                comparison(attribute, .greaterOrEqual, low), comparison(attribute, .lessOrEqual, high),
            ])
            return negated ? condition.negated : condition
        }
    }

    private func comparison(
        _ attribute: QueryAttribute, _ comparison: QueryComparison, _ operand: QueryOperand
    ) -> QueryCondition {
        switch operand {
        case .text(let pattern): text(attribute, comparison, pattern)
        case .number(let number): attribute == .size ? size(comparison, number) : .unknown
        case .date(let date): self.date(attribute, comparison, date)
        case .flag(let flag): self.flag(attribute, comparison, flag)
        case .words(let pattern):
            QueryCondition(
                sql: "(i.id IN (\(ContentWords.candidates)))", values: [.text(pattern.match)], isSelective: true)
        }
    }

    // MARK: Text

    private func text(
        _ attribute: QueryAttribute, _ comparison: QueryComparison, _ pattern: TextPattern
    ) -> QueryCondition {
        func holds(_ text: String) -> Bool { comparison.holds(.text([Array(text.utf8)]), .text(pattern)) }
        switch attribute {
        case .name where comparison == .equal:
            return name(
                PatternShape(pattern.text, hasSets: false), .text(pattern),
                ignoresCase: pattern.ignoresCase || pattern.ignoresDiacritics)
        case .name: return matched("i.name", .text(pattern), comparison)
        case .container: return matched("i.container", .text(pattern), comparison)
        case .kind:
            let codes = FileKind.allCases.filter { holds($0.rawValue) }.map(\.code)
            return codes.isEmpty ? .never : .any(codes.map { QueryCondition(sql: "i.kind = \($0)") })
        case .state: return state { holds($0.rawValue) }
        case .downloadingStatus:
            return flag("(i.dataless = 1)") { holds(DownloadingStatusText(isHere: !$0).rawValue) }
        case .contentType, .contentTypeTree, .typeName:
            var condition = TypeMatcher.condition(attribute, pattern, comparison)
            // Without a row of `types`, a file is data.
            let isDataWanted = ContentType.data.values(of: attribute).map {
                comparison.holds(.text($0), .text(pattern))
            }
            if isDataWanted ?? false { condition.sql = "(\(condition.sql) OR i.type <= 0)" }
            return condition
        case .tags:
            // Which of several is compared is for the test of the item itself.
            return QueryCondition(sql: "(i.tags <> '')", isExact: false, isSelective: true)
        default: return .unknown
        }
    }

    private func name(_ shape: PatternShape, _ matcher: TextMatcher, ignoresCase: Bool) -> QueryCondition {
        if !ignoresCase, let literal = shape.literal {
            return QueryCondition(sql: "(i.name = ?)", values: [.blob(literal)], isSelective: true)
        }
        var condition = matched("i.name", matcher, .equal)
        if !ignoresCase, !shape.prefix.isEmpty, let end = shape.prefixEnd {
            condition.sql = "(i.name >= ? AND i.name < ? AND \(condition.sql))"
            condition.values = [.blob(shape.prefix), .blob(end)] + condition.values
            condition.isSelective = true
        } else if !shape.runs.isEmpty {
            condition.sql = "(i.id IN (\(NameSearch.candidates)) AND \(condition.sql))"
            condition.values = [.text(NameSearch.match(shape.runs, frequencies))] + condition.values
            condition.isSelective = true
        }
        return condition
    }

    private func matched(_ column: String, _ matcher: TextMatcher, _ comparison: QueryComparison) -> QueryCondition {
        QueryCondition(
            sql: "(\(TextMatcher.function)(\(column), ?, ?))",
            values: [.text(matcher.encoded), .text(comparison.rawValue)])
    }

    // MARK: Numbers, dates, flags

    /// Directories have none.
    private func size(_ comparison: QueryComparison, _ number: Double) -> QueryCondition {
        QueryCondition(
            sql: "(i.size \(comparison.sql) ? AND i.kind <> 1)", values: [.real(number)], isSelective: true)
    }

    private func date(
        _ attribute: QueryAttribute, _ comparison: QueryComparison, _ date: FileTime
    ) -> QueryCondition {
        let column: String
        switch attribute {
        case .modified: column = "i.mtime"
        case .changed: column = "i.ctime"
        case .created: column = "i.created"
        case .added: column = "i.added"
        default: return .unknown
        }
        return QueryCondition(
            sql: "(\(column) \(comparison.sql) ?)", values: [.integer(date.nanoseconds)],
            isSelective: attribute == .modified)
    }

    private func flag(_ attribute: QueryAttribute, _ comparison: QueryComparison, _ flag: Bool) -> QueryCondition {
        func holds(_ value: Bool) -> Bool { comparison.holds(.flag(value), .flag(flag)) }
        switch attribute {
        case .pinned: return self.flag("(i.pinned = 1)", holds)
        case .dirty:
            let localOnly = state { $0 == .localOnly }
            return self.flag(
                QueryCondition(
                    sql: "(i.pending <> 0 AND NOT \(localOnly.sql))", values: localOnly.values, isSelective: true),
                holds
            )
        case .uploaded: return self.flag("(b.id IS NOT NULL AND i.pending = 0)", holds)
        case .hasConflicts: return self.flag(state { $0 == .conflict }, holds)
        case .dataless: return self.flag("(i.dataless = 1)", holds)
        case .downloading: return self.flag(state { $0 == .downloading }, holds)
        case .uploading: return self.flag(state { $0 == .uploading }, holds)
        case .ubiquitous: return self.flag(state { $0 != .localOnly }, holds)
        default: return .unknown
        }
    }

    private func flag(_ sql: String, _ holds: (Bool) -> Bool) -> QueryCondition {
        flag(QueryCondition(sql: sql), holds)
    }

    private func flag(_ condition: QueryCondition, _ holds: (Bool) -> Bool) -> QueryCondition {
        switch (holds(true), holds(false)) {
        case (true, true): .always
        case (true, false): condition
        case (false, true): condition.negated
        case (false, false): .never
        }
    }

    // MARK: State

    /// As `ItemReader.state`, after what the sync engine does now.
    private func state(_ isWanted: (ItemState) -> Bool) -> QueryCondition {
        let names: [ItemState] = [.error, .localOnly, .conflict, .dataless, .current, .dirty]
        func wanted(_ state: ItemState) -> String { isWanted(state) ? "1" : "0" }
        var sql = "(CASE"
        var values: [SQLValue] = []
        for (item, state) in transfers.sorted(by: { $0.key.rawValue < $1.key.rawValue }).prefix(Self.mostComparisons) {
            sql += " WHEN i.id = ? THEN \(wanted(state))"
            values.append(.integer(item.rawValue))
        }
        let conditions = [
            "k.message IS NOT NULL", "i.local_only = 1", ItemReader.hasConflict, "i.dataless = 1", "i.pending = 0",
        ]
        for (condition, name) in zip(conditions, names) { sql += " WHEN \(condition) THEN \(wanted(name))" }
        sql += " ELSE \(wanted(.dirty)) END)"
        return QueryCondition(sql: sql, values: values, isExact: transfers.count <= Self.mostComparisons)
    }
}

extension QueryComparison {
    fileprivate var sql: String { self == .equal ? "=" : rawValue }
}

extension QueryPredicate {
    /// How many comparisons are in it; counted no further than `limit`.
    fileprivate func comparisons(upTo limit: Int) -> Int {
        switch self {
        case .compare, .range: return 1
        case .not(let part): return part.comparisons(upTo: limit)
        case .all(let parts), .any(let parts):
            var count = 0
            for part in parts where count < limit { count += part.comparisons(upTo: limit) }
            return count
        }
    }
}
