import QuireCore

/// What a probe found an account to be able to do.
struct DAVAbilities: Sendable, Hashable {
    /// How a version can be named as the condition of a write.
    enum Condition: Sendable, Hashable {
        /// `If: <url> (["tag"])`, which some servers also take for a tag that is still weak (RFC 4918 §10.4). With the
        /// URL, because one without is asked of a deleted item's directory, too.
        case stateList
        /// `If-Match: "tag"` (RFC 9110 §13.1.1).
        case match
        /// The server ignores either, or refuses also what is right.
        case none
    }

    /// How the server itself tells what changed, at any depth and whoever changed it.
    ///
    /// - tellsAttributes: a change of a stamp alone is told, too; or the server keeps none.
    enum Journal: Sendable, Hashable {
        /// By tokens (RFC 6578).
        case tokens(tellsAttributes: Bool)
        /// By the entity tags of directories: a change changes those of all that it lies in.
        case tags(tellsAttributes: Bool)
    }

    /// An exclusive lock is refused to a second asker until it is let go.
    var locks = false
    /// `If-None-Match: *` is refused where something is.
    var refusesExisting = false
    /// How the version a write replaces can be named.
    var condition = Condition.none
    /// How the version that a MOVE takes can be named.
    var moveCondition = Condition.none
    /// What is moved keeps its version.
    var movesVersions = false
    /// A PUT is answered with the entity tag that a look finds then.
    var tellsWritten = false
    /// A PUT shows nobody a part of what it brings, and leaves the old content when it is cut.
    var putsWhole = false
    /// Depth: infinity lists everything.
    var listsAll = false
    /// Properties of our own come back, also after a PUT.
    var stamps = false
    /// Two writes of the same size within a second may have the same version.
    var isTimeBased = false
    /// A write has another version than one of the same size before, at the latest once a second is over.
    var tellsContents = true
    var journal: Journal?
    /// Where the server lists what it keeps of documents by itself; nil where it keeps nothing.
    var history: DAVHistory?
    var longestName = 255
    /// Listings leave out names that begin with a dot.
    var hidesDotNames = false
    /// Which names are one place.
    var folding: NameFolding = []
    /// Upper-case letters come back as lower-case ones.
    var lowersNames = false

    /// The server was in trouble each time that it was asked for something no document depends on.
    var isUnsettled = false

    /// What an account is taken for until it was probed.
    static let unprobed = DAVAbilities()

    var capabilities: ProviderCapabilities {
        ProviderCapabilities(
            conditionalWrites: locks && tellsContents ? .locked : .detected, stableIdentifiers: false,
            directoryMoves: true,
            symlinks: false, attributes: stamps, arbitraryNames: false, earlierVersions: history != nil,
            folding: folding, longestName: longestName,
            versionGranularity: isTimeBased ? DAVSecond.length : .zero)
    }

    /// Whether the server itself refuses a write where something else is than was found.
    ///
    /// - Parameter entityTag: of what was found; nil also where nothing was.
    func guards(_ entityTag: String?, exists: Bool) -> Bool {
        exists ? condition != .none && DAVVersion.condition(entityTag) != nil : refusesExisting
    }

    /// The version of what a PUT has written, where the answer tells it.
    func written(_ answer: HTTPAnswer) -> ProviderVersion? { tellsWritten ? DAVVersion.told(answer) : nil }

    /// The fields that let a write happen only where nothing is.
    var absent: HTTPFields { refusesExisting ? ["If-None-Match": "*"] : [:] }

    /// The fields that let a write happen only while the item has that entity tag; none where it has none.
    ///
    /// - Parameter url: of the item.
    func unchanged(_ entityTag: String?, _ url: String) -> HTTPFields { Self.fields(condition, entityTag, url) }

    /// As `unchanged`, for the MOVE of a document.
    func unmoved(_ entityTag: String?, _ url: String) -> HTTPFields { Self.fields(moveCondition, entityTag, url) }

    private static func fields(_ condition: Condition, _ entityTag: String?, _ url: String) -> HTTPFields {
        guard let tag = DAVVersion.condition(entityTag) else { return [:] }
        return switch condition {
        case .stateList: ["If": "<\(url)> ([\(tag)])"]
        case .match: ["If-Match": tag]
        case .none: [:]
        }
    }
}
