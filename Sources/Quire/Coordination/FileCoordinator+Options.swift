import QuireCore

extension FileCoordinator {
    /// How a coordinated read is done (NSFileCoordinator.ReadingOptions).
    public struct ReadingOptions: OptionSet, Hashable, Sendable {
        /// The bits, as Foundation's.
        public let rawValue: UInt

        /// Any combination of bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Presenters are not asked to save first.
        public static let withoutChanges = ReadingOptions(rawValue: 1)
        /// The accessor gets a symbolic link's target.
        public static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
        /// Granted without waiting for content that is elsewhere: only attributes may be read. Claims are waited for.
        public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
        /// The accessor gets a snapshot that nobody changes, of a directory one zip file, and writers go on meanwhile. It is
        /// gone when the accessor returns: open or move it there.
        public static let forUploading = ReadingOptions(rawValue: 8)
    }

    /// How a coordinated write is done: at most one (NSFileCoordinator.WritingOptions). None of them: update in place.
    public struct WritingOptions: OptionSet, Hashable, Sendable {
        /// The bits, as Foundation's.
        public let rawValue: UInt

        /// More than one bit is refused when it is used.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The item is deleted. Of a directory, waits for all access below it, too, as the two below do.
        public static let forDeleting = WritingOptions(rawValue: 1)
        /// The item is moved.
        public static let forMoving = WritingOptions(rawValue: 2)
        /// The item is read and written back: presenters save first.
        public static let forMerging = WritingOptions(rawValue: 4)
        /// Another item takes the place, whether or not there is one: the access stays at the URL where that moves away.
        public static let forReplacing = WritingOptions(rawValue: 8)
        /// Only attributes that are not derived from content change, tags for instance: no content is brought here.
        public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 16)
    }
}

/// What an intent is for.
enum AccessKind: Sendable, Hashable {
    case reading(FileCoordinator.ReadingOptions)
    case writing(FileCoordinator.WritingOptions)

    /// In the words of the socket; nil where the options exclude one another. Following a link is the client's part.
    var words: String? {
        switch self {
        case .reading(let options): AccessWords(.read, bits: options.subtracting(.resolvesSymbolicLink).rawValue).text
        case .writing(let options):
            options.rawValue.nonzeroBitCount > 1 ? nil : AccessWords(.write, bits: options.rawValue).text
        }
    }

    var isReading: Bool { if case .reading = self { true } else { false } }

    var resolvesSymbolicLink: Bool {
        if case .reading(let options) = self { options.contains(.resolvesSymbolicLink) } else { false }
    }

    var isForUploading: Bool {
        if case .reading(let options) = self { options.contains(.forUploading) } else { false }
    }

    /// Whether the content must be here.
    var needsContent: Bool {
        switch self {
        case .reading(let options): !options.contains(.immediatelyAvailableMetadataOnly)
        case .writing(let options):
            options.isDisjoint(with: [.forDeleting, .forMoving, .contentIndependentMetadataOnly])
        }
    }

    /// Whether there must be an item when access is granted. Other writes may make it.
    var needsItem: Bool {
        switch self {
        case .reading: true
        case .writing(let options):
            !options.isDisjoint(with: [.forDeleting, .forMoving, .contentIndependentMetadataOnly])
        }
    }
}
