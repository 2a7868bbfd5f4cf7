package import QuireCore

/// How the engine behaves; from `config.toml`, section `sync`.
package struct SyncSettings: Sendable, Hashable {
    /// Between two looks at the provider.
    package var pollInterval: Duration = .seconds(15)
    /// How long an item must have been left alone before it is uploaded.
    package var settleTime: Duration = .milliseconds(300)
    /// How long a deletion, or a name that became free, waits for an editor to put the document back.
    package var deletionSettleTime: Duration = .milliseconds(1500)
    /// How long a file that is still open for writing must have been left alone before a snapshot of it is uploaded.
    package var openFileQuietTime: Duration = .seconds(10)
    /// How long what was written to a file that stays open waits for that at most; then a snapshot is uploaded as it is.
    package var openFileLimit: Duration = .seconds(300)
    /// How long a round waits for programs that keep the drive busy.
    package var patience: Duration = .seconds(5)
    /// How many changes a push reads and plans at once, those not counted that others need.
    package var pushPart: Int = 1000
    /// How many changes at the provider a pull plans at once, where they can be planned one by one.
    package var pullPart: Int = 2000
    /// Transfers at the same time.
    package var parallelTransfers: Int = 8
    /// A changed document that is here is downloaded at once up to this size; above it becomes a placeholder.
    package var refreshLimit = ByteCount(64_000_000)
    /// Without any progress for this long, a download that somebody waits for is given up.
    package var downloadDeadline: Duration = .seconds(30)
    /// How long after a document came without a checksum that is counted, at the earliest.
    package var checksumRest: Duration = .seconds(10)
    /// How long a snapshot waits for an application's claim before it is put off.
    package var claimDeadline: Duration = .seconds(10)
    /// Longest time between two attempts.
    package var longestBackoff: Duration = .seconds(60)
    /// Display name of this device, for conflict copies.
    package var deviceName: String

    package init(deviceName: String) { self.deviceName = deviceName }
}
