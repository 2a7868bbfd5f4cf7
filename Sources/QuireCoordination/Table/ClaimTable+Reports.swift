/// The table shown to people.
extension ClaimTable {
    /// All holders and waiters, in the order in which they were asked for.
    /// - Parameter now: on the clock of the requests' `now`.
    package func reports(now: Duration) -> [ClaimReport] {
        liveSlots.sorted { records[Int($0)].order < records[Int($1)].order }.map { report($0, now: now) }
    }

    func report(_ slot: Int32, now: Duration) -> ClaimReport {
        let record = records[Int(slot)]
        return ClaimReport(
            id: record.id, isHeld: record.isHeld, purpose: purposes[record.purpose].purpose, client: record.client,
            processID: record.processID, accesses: record.accesses, age: now - record.since,
            waitsFor: record.parkedOn >= 0 ? records[Int(record.parkedOn)].id : nil)
    }
}
