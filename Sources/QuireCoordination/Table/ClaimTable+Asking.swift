/// Asking others between the end of the wait and the grant.
///
///     request ──▶ waiting ──▶ ready: asking ──proceed──▶ held
///                                  ▲
///                 somebody asked makes a request of their own: it goes ahead
extension ClaimTable {
    /// One claim that asks somebody.
    struct Asking {
        let slot: Int32
        /// Requests of the respondent with this order or a later one are on account of the question.
        let stamp: UInt64
        var count = 1
    }

    /// Notes that `respondent` is asked on behalf of `id`, which is ready. Balanced by `answered`, or by the request's end.
    package mutating func ask(_ id: ClaimID, _ respondent: Respondent) {
        guard let slot = slot(of: id), records[Int(slot)].isAsking else { return }
        if let index = asked[respondent]?.firstIndex(where: { $0.slot == slot }) {
            asked[respondent]?[index].count += 1
        } else {
            asked[respondent, default: []].append(Asking(slot: slot, stamp: nextOrder))
        }
    }

    /// Takes one `ask` back.
    package mutating func answered(_ id: ClaimID, _ respondent: Respondent) {
        guard let slot = slot(of: id), let index = asked[respondent]?.firstIndex(where: { $0.slot == slot }) else {
            return
        }
        asked[respondent]?[index].count -= 1
        guard asked[respondent]?[index].count == 0 else { return }
        asked[respondent]?.remove(at: index)
        if asked[respondent]?.isEmpty == true { asked[respondent] = nil }
    }

    /// All were asked: a request that was ready is granted as soon as nobody is in its way, mostly now.
    package mutating func proceed(_ id: ClaimID) -> [ClaimAction] {
        guard let slot = slot(of: id), records[Int(slot)].isAsking else { return [] }
        stopAsking(slot)
        records[Int(slot)].asksFirst = false
        return records[Int(slot)].parkedOn >= 0 ? [] : reconsider([slot])
    }

    mutating func startAsking(_ slot: Int32) -> ClaimAction {
        records[Int(slot)].isAsking = true
        return .ready(records[Int(slot)].id, records[Int(slot)].accesses)
    }

    mutating func stopAsking(_ slot: Int32) {
        records[Int(slot)].isAsking = false
        guard !asked.isEmpty else { return }
        for (respondent, list) in asked where list.contains(where: { $0.slot == slot }) {
            let rest = list.filter { $0.slot != slot }
            asked[respondent] = rest.isEmpty ? nil : rest
        }
    }

    /// The claims that ask who made `record`, and will not be granted before it was answered.
    func askers(of record: ClaimRecord) -> [Int32] {
        guard !asked.isEmpty else { return [] }
        var found: [Int32] = []
        func add(_ respondent: Respondent) {
            for asking in asked[respondent] ?? [] where asking.stamp <= record.order { found.append(asking.slot) }
        }
        let purpose = purposes[record.purpose].purpose
        if purpose != .mount {
            add(.purpose(purpose))
        } else if let process = record.processID {
            add(.process(process))
        }
        return found
    }
}
