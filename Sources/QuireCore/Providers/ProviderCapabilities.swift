/// What a provider can do, found by probe, never by name or version.
public struct ProviderCapabilities: Sendable, Hashable, Codable {
    /// How safe a conditional write is.
    public enum ConditionalWrites: String, Sendable, Codable {
        /// The provider checks and writes in one step: no update is ever lost.
        case atomic
        /// Safe among clients that take its lock; others may slip in between.
        case locked
        /// Detected after the fact only: may lose an update.
        case detected
        /// Could not be found out, as the provider has no room to try it: it can be read, and changes are refused with
        /// `.noSpace` until it has.
        case untried
    }

    /// How safe `put` under a condition is.
    public var conditionalWrites: ConditionalWrites
    /// `RemoteItem.identifier` is set and survives a move: remote moves are recognised.
    public var stableIdentifiers: Bool
    /// `move` renames a directory with all below it in one step.
    public var directoryMoves: Bool
    /// `putSymlink` works.
    public var symlinks: Bool
    /// Keeps mtime (to the nanosecond or coarser) and permission bits, and tells them of every item. Where it does not, an item
    /// of a file with a mode has the attributes that were uploaded with that version, and others have the provider's time.
    public var attributes: Bool
    /// Names may be any bytes but `/` and NUL; otherwise valid UTF-8 only.
    public var arbitraryNames: Bool
    /// The upload of a large document that was cut goes on where it ended.
    public var resumableUploads: Bool
    /// Keeps earlier versions of documents by itself: `earlierVersions(of:)` lists them.
    public var earlierVersions: Bool
    /// `announce` saves other devices listings, so that what is announced nowhere is found late.
    public var announcements: Bool
    /// Tells by itself what changed in it, whoever changed it: looking for changes costs what changed, not what there is.
    public var tellsChanges: Bool
    /// Names that differ in nothing but this are one place: only one of them can be there.
    public var folding: NameFolding
    /// Longest name, in bytes.
    public var longestName: Int
    /// How long an unchanged time-based version must be left alone before it proves that content is unchanged.
    public var versionGranularity: Duration

    /// What a probe found.
    public init(
        conditionalWrites: ConditionalWrites, stableIdentifiers: Bool, directoryMoves: Bool, symlinks: Bool,
        attributes: Bool, arbitraryNames: Bool, resumableUploads: Bool = false, earlierVersions: Bool = false,
        announcements: Bool = false, tellsChanges: Bool = false, folding: NameFolding = [], longestName: Int = 255,
        versionGranularity: Duration = .zero
    ) {
        self.conditionalWrites = conditionalWrites
        self.stableIdentifiers = stableIdentifiers
        self.directoryMoves = directoryMoves
        self.symlinks = symlinks
        self.attributes = attributes
        self.arbitraryNames = arbitraryNames
        self.resumableUploads = resumableUploads
        self.earlierVersions = earlierVersions
        self.announcements = announcements
        self.tellsChanges = tellsChanges
        self.folding = folding
        self.longestName = longestName
        self.versionGranularity = versionGranularity
    }
}
