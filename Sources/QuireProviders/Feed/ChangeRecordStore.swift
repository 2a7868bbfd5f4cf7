import QuireCore

/// Where a provider on the network keeps the numbered records of its changes.
protocol ChangeRecordStore: Sendable {
    /// Whether of two devices that create one record at the same moment one is always refused.
    var keepsFirst: Bool { get }

    /// The record of that number; nil where there is none yet, or none any more.
    func read(_ number: Int) async throws(ProviderError) -> [UInt8]?

    /// Writes a record unless one of that number is there.
    ///
    /// - Returns: false where one is; nothing was changed then.
    func create(_ number: Int, _ bytes: [UInt8]) async throws(ProviderError) -> Bool

    /// The numbers of all records.
    func numbers() async throws(ProviderError) -> [Int]

    /// Removes a record; nothing happens where there is none.
    func remove(_ number: Int) async throws(ProviderError)
}
