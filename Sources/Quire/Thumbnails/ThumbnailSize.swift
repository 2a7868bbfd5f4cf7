/// The sizes of thumbnails (freedesktop.org's Thumbnail Managing Standard, "Thumbnail Directory"): neither side is longer.
public enum ThumbnailSize: Int, Sendable, Hashable, CaseIterable {
    /// 128 × 128.
    case normal = 128
    /// 256 × 256.
    case large = 256
    /// 512 × 512.
    case xLarge = 512
    /// 1024 × 1024: what Foundation calls NSThumbnail1024x1024SizeKey.
    case xxLarge = 1024

    /// The directory in the cache.
    var directoryName: String {
        switch self {
        case .normal: "normal"
        case .large: "large"
        case .xLarge: "x-large"
        case .xxLarge: "xx-large"
        }
    }
}
