import QuireCore

/// `[thumbnails]` of the configuration.
struct ThumbnailSettings: Sendable, Equatable {
    /// Whether pictures are made of documents; given ones are kept and brought in any case.
    var makes = true
    /// Whether texts are drawn in the background; when somebody asks for one it is drawn in any case.
    var drawsText = false
    /// Of the drive's own copies, in MB; also of those at a provider, 1 … 1,000,000.
    var megabytes = 256

    var limit: ByteCount { ByteCount(Int64(megabytes) * 1_000_000) }
}
