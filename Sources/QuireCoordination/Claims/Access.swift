package import QuireCore

/// One item that a request wants to read or write.
package struct Access: Hashable, Sendable {
    /// What is wanted of the item.
    package enum Intent: Hashable, Sendable {
        case reading(ReadingOptions)
        case writing(WritingOption)
    }

    /// The item, below the drive's root. Follows the item when it moves, unless the intent is `.writing(.replacing)`.
    package internal(set) var path: RelativePath
    package let intent: Intent
    /// The outermost package that holds the item, where there is one: then the access counts as one of the package.
    ///
    /// `path` itself or one of its ancestors. Inside a package the tree options are plain writes of the package.
    package internal(set) var packageRoot: RelativePath?

    package init(_ intent: Intent, _ path: RelativePath, packageRoot: RelativePath? = nil) {
        self.path = path
        self.intent = intent
        self.packageRoot = packageRoot
    }

    /// A coordinated read of `path`.
    package static func reading(
        _ path: RelativePath, _ options: ReadingOptions = [], packageRoot: RelativePath? = nil
    ) -> Access {
        Access(.reading(options), path, packageRoot: packageRoot)
    }

    /// A coordinated write of `path`.
    package static func writing(
        _ path: RelativePath, _ option: WritingOption = .inPlace, packageRoot: RelativePath? = nil
    ) -> Access {
        Access(.writing(option), path, packageRoot: packageRoot)
    }

    /// Whether it is a coordinated write.
    package var isWriting: Bool { if case .writing = intent { true } else { false } }

    /// What the claim is kept under: the package, or else the item.
    var key: RelativePath { packageRoot ?? path }

    /// Whether it takes part in the wait table as a reader, a writer, or a writer of everything below, too.
    var lane: LaneKind {
        switch intent {
        case .reading: .reads
        case .writing(let option):
            option.coversTree && (packageRoot == nil || packageRoot == path) ? .trees : .writes
        }
    }

    /// Whether a rename of the item changes `path`.
    var followsMoves: Bool { intent != .writing(.replacing) }
}

/// How a coordinated read is done; values as in `NSFileCoordinator.ReadingOptions`.
///
/// None of them changes who waits for whom; they decide what presenters are asked and what content must be here.
package struct ReadingOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Presenters are not asked to save first.
    package static let withoutChanges = ReadingOptions(rawValue: 1)
    /// The accessor gets a symbolic link's target.
    package static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
    /// Granted without a download; still waits for claims.
    package static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
    /// The claim ends once a snapshot exists; whoever takes the snapshot releases it.
    package static let forUploading = ReadingOptions(rawValue: 8)
}

/// How a coordinated write is done, at most one; values as in `NSFileCoordinator.WritingOptions`.
package enum WritingOption: UInt8, Hashable, Sendable, CaseIterable {
    /// Update in place.
    case inPlace = 0
    case deleting = 1
    case moving = 2
    case merging = 4
    /// Another item takes the place; the access stays at the path when what was there moves away.
    case replacing = 8
    /// Attributes that are not derived from content.
    case contentIndependentMetadataOnly = 16

    /// Whether a write of a directory waits for claims on everything below it, and holds up new ones there.
    ///
    /// On a plain file nothing lies below, so there the option changes nothing.
    package var coversTree: Bool {
        switch self {
        case .deleting, .moving, .replacing: true
        case .inPlace, .merging, .contentIndependentMetadataOnly: false
        }
    }
}
