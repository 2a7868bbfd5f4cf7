import QuireCore

/// Up to which record a device has read.
struct FeedPosition: Hashable, Sendable {
    var number: Int
    /// Of that record; nil where it was not read. A store that was set back may have another of that number.
    var digest: String?

    init(_ number: Int, digest: String? = nil) { (self.number, self.digest) = (number, digest) }

    /// - Parameter record: as it is in the store; nil where it is not there.
    init(_ number: Int, of record: [UInt8]?) { self.init(number, digest: record.map(Self.digest)) }

    /// Whether the record is gone, or another, as far as is known.
    ///
    /// - Parameter record: as it is in the store now; nil where it is not there.
    func isLost(_ record: [UInt8]?) -> Bool {
        guard let record else { return true }
        return digest.map { $0 != Self.digest(record) } ?? false
    }

    private static func digest(_ record: [UInt8]) -> String {
        String(ContentChecksum.sha256(of: record).description.prefix(16))
    }
}
