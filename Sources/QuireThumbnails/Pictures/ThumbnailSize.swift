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

    /// The smallest that a picture with this longest side fits into; nil for one above 1024 pixels.
    package init?(fitting side: Int) {
        guard let size = Self.allCases.first(where: { side <= $0.rawValue }) else { return nil }
        self = size
    }

    /// The directory in the cache.
    package var directoryName: String {
        switch self {
        case .normal: "normal"
        case .large: "large"
        case .xLarge: "x-large"
        case .xxLarge: "xx-large"
        }
    }
}
