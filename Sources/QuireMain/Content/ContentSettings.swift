import QuireCore

/// `[index]` of the configuration.
struct ContentSettings: Sendable, Equatable {
    /// Whether the words of documents are kept.
    var isOn = false
    /// Of the file of words, in MB: 1 … 1,000,000. No more documents are read when it is larger.
    var megabytes = 2000

    var limit: ByteCount { ByteCount(Int64(megabytes) * 1_000_000) }
}
