import QuireCore
import Synchronization

@testable import QuireProviders

/// A WebDAV server in memory that tells what changed, scripted by how well: by tokens, as sabre/dav's Sync plugin does with
/// all collections behind it, or by entity tags of collections, as Nextcloud does.
final class DAVStandIn: Sendable {
    /// How it tells by tokens.
    struct Tokens: Sendable, Hashable {
        /// Else `infinite` is refused with 400, as by xandikos.
        var isDeep = true
        /// Tells of what is in the account's root and directly below it.
        var isShallow = false
        var tellsStamps = false
        /// Of a collection that was moved, what is in it.
        var tellsMembers = true
        var tellsCollections = true
        /// Takes a token that it does not know for an empty one.
        var takesAnyToken = false
        /// A collection whose content changed is told, too.
        var tellsParents = false
        /// Most that one answer tells; nil for any number.
        var page: Int?
        /// How it refuses a token that it does not know.
        var refusal = "403 Forbidden"
        var namesReason = true
    }

    /// Whose entity tags change with a document's.
    enum Tags: Sendable, CaseIterable {
        case none
        /// Those of its collection.
        case parent
        /// Those of all it lies in, where names come and go, and that of its collection otherwise.
        case namesUpwards
        /// Those of all it lies in, once a second.
        case upwardsBySeconds
        /// Those of all it lies in.
        case upwards
    }

    enum WrittenTag: Sendable {
        /// The one that listings have.
        case listed
        /// One of its own kind.
        case another
    }

    /// Where a document's entity tag is another than that of a look.
    enum OddTags: Sendable {
        case listings
        /// In every second answer, as from two machines.
        case everySecond
        /// In the first look after a write, and never again.
        case firstLook
    }

    struct Manners: Sendable, Hashable {
        var tokens: Tokens?
        var tags = Tags.none
        var tagsFollowStamps = false
        var keepsStamps = true
        var listsAll = false
        /// Which names are one place.
        var folding: NameFolding = []
        /// Keeps names in lower case only.
        var lowersNames = false
        /// After so many more requests, the probe's document is made of the half body that came for it; nil never.
        var slowness: Int?
        /// A collection of which a listing has one response only, with no property granted, as lighttpd answers where it
        /// cannot open the directory.
        var unlisted: String?
        /// Something of which listings and reports say only that it may not be read.
        var unshown: String?
        /// Listings leave out names that begin with a dot, as nginx's do.
        var hidesDotNames = false
        /// Listings leave out that name, as x/net's do where they may not open what has it.
        var hidden: String?
        /// A PROPPATCH gives the document a new entity tag.
        var stampsRetag = false
        /// A name that stays behind where a collection with it is moved.
        var unmoved: String?
        /// What is replaced is kept.
        var history: History?
        /// How a PUT that announces what the probe's half one does is refused before its body comes; nil where it is not.
        var halfRefusal: String?
        /// So many answers with the probe's document have a wrong byte.
        var flips = 0
        /// Has locks, each of the one path that is named.
        var locks = false
        /// Methods that heed an `If` with an entity tag, as `If: <url> (["tag"])`.
        var heedsTags: Set<String> = []
        /// A MOVE gives a document a new entity tag.
        var movesRetag = false
        /// How a MOVE is answered whose Destination is a whole URL, as behind a proxy that ends TLS; nil where it is taken.
        var urlRefusal: String?
        /// The same of one that is a path alone.
        var pathRefusal: String?
        /// What a cache before the server has of each document; nil without one.
        var cached: String?
        /// Entity tags of documents are made of size and second, as nginx's, by a clock that goes on by so many seconds with
        /// each write and otherwise when the test says so; nil where each write has its own tag.
        var secondsPerWrite: Double?
        /// Each write has its own tag all the same.
        var hasOwnTags = false
        /// Tells of documents neither an entity tag nor when they changed.
        var tellsNoVersions = false
        /// How far the clock of its dates is ahead of that one.
        var datesAhead = 0
        /// Nil nowhere.
        var oddTags: OddTags?
        /// There documents have another time of change, too.
        var oddTimes = false
        /// What it tells of its data with the account's root; nil where it tells nothing.
        var fingerprint: String?
        /// What is added to office documents that come by PUT or MOVE; nil where they are left as they are.
        var officeMark: String?
        /// The entity tag that a PUT is answered with; nil for none.
        var writtenTag: WrittenTag?
    }

    /// What a proxy before the server answers in its place.
    struct Trouble: Sendable {
        var status: String
        var method: String
        var depth: String?
        /// How the paths begin and end that it has to do with.
        var prefix = ""
        var suffix = ""
        /// How often.
        var times = Int.max
        /// From then on nothing gets through.
        var spreads = false
    }

    struct Node: Sendable {
        var isCollection: Bool
        var content: [UInt8] = []
        var tag: Int
        var stamp: String?
        var names: Set<String> = []
        /// The document's own, wherever it is.
        var number = 0
        /// When it was written, in seconds.
        var time = 0
        var kept: [Kept] = []
    }

    struct State {
        var manners: Manners
        var nodes: [String: Node] = ["": Node(isCollection: true, tag: 0)]
        /// What changed, in order; the number of all is the present token.
        var journal: [String] = []
        /// Tokens up to that one are forgotten.
        var forgotten = -1
        var tag = 0
        /// Since `epoch`, where tags are made of seconds.
        var seconds = 0.0
        var log: [String] = []
        /// The token of each path that is locked.
        var locks: [String: String] = [:]
        /// MOVEs that were refused for the form of their Destination.
        var refusedMoves = 0
        /// Requests since the probe's document was written.
        var sinceHalf = 0
        /// Looks since the last write.
        var looks = 0
        var looksInAll = 0
        /// The answer that is being given has odd tags.
        var isOdd = false
        /// Header fields of the answer that is being given.
        var fields: [String] = []
        var trouble: Trouble?
        /// What another program does just before the first request with such a method for that path is looked at.
        var intruder: (methods: Set<String>, path: String, act: @Sendable (inout State, DAVStandInRequest) -> Void)?
        /// Answers the next REPORTs in place of the server.
        var mishaps: [(status: String, body: String)] = []
    }

    private final class Book: Sendable {
        let state: Lock<State>

        init(_ manners: Manners) { state = Lock(State(manners: manners)) }
    }

    let port: Int
    private let server: LoopbackServer
    private let book: Book

    init(_ manners: Manners) throws {
        let book = Book(manners)
        self.book = book
        server = try LoopbackServer { peer in
            while let (head, body) = peer.request(refusing: { head in
                head.contains("Content-Length: 131072") ? book.state.withLock { $0.manners.halfRefusal } : nil
            }) {
                let (answer, fields) = book.state.withLock { state in
                    state.fields = []
                    let answer = state.answer(DAVStandInRequest(head: head, body: body))
                    guard state.manners.secondsPerWrite != nil else { return (answer, state.fields) }
                    let date = state.date(Int(state.seconds) + state.manners.datesAhead)
                    return (answer, state.fields + ["Date: \(date)"])
                }
                peer.answer(answer.status, ["Content-Type: application/xml"] + fields, answer.body)
            }
        }
        port = server.port
    }

    /// A device's provider. Where the server's clock is the test's, the device has the same.
    func provider(pace: ListingPace? = ListingPace(interval: .seconds(3600))) -> WebDAVProvider {
        let origin = HTTPOrigin(isSecure: false, host: "127.0.0.1", port: port)
        var client = DAVClient(
            transport: HTTPTransport(origin: origin), address: DAVAddress(origin: origin, base: "/dav"))
        client.clock = with { $0.manners.secondsPerWrite } != nil ? clock : .calm
        return WebDAVProvider(client: client, pace: pace)
    }

    private var clock: DAVClock {
        let start = ContinuousClock.now
        return DAVClock(
            now: { [book] in start + .seconds(book.state.withLock { $0.seconds }) },
            pause: { [book] duration in book.state.withLock { $0.seconds += duration / .seconds(1) } })
    }

    /// What another program does, and what the server is.
    func with<Value>(_ body: (inout State) -> Value) -> Value { book.state.withLock { body(&$0) } }

    /// What was asked since the last time, as method and path.
    func takeLog() -> [String] {
        with { state in
            defer { state.log = [] }
            return state.log
        }
    }
}

extension DAVClock {
    /// Goes so slowly that a server answers at once by it, however busy the machine is.
    static var calm: DAVClock {
        let start = ContinuousClock.now
        return DAVClock(now: { start + (.now - start) / 1000 })
    }
}

/// What the stand-in reads of a request.
struct DAVStandInRequest {
    let method: String
    /// Below the account's root, without slashes at its ends.
    var path: String
    let fields: [String: String]
    let body: String
    let bytes: [UInt8]

    init(head: String, body: [UInt8]) {
        let lines = head.split(separator: "\r\n").map(String.init)
        let words = lines[0].split(separator: " ").map(String.init)
        method = words[0]
        path = Self.path(words[1])
        fields = Dictionary(
            lines.dropFirst().compactMap { line in
                line.firstIndex(of: ":").map { colon in
                    (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmed)
                }
            }, uniquingKeysWith: { _, last in last })
        bytes = body
        self.body = String(decoding: body, as: UTF8.self)
    }

    /// The path in a target or a whole URL.
    static func path(_ target: String) -> String {
        let decoded = String(decoding: PercentEncoding.decode(target), as: UTF8.self)
        let below = decoded.split(separator: "/dav", maxSplits: 1, omittingEmptySubsequences: false).last ?? ""
        return below.split(separator: "/").joined(separator: "/")
    }

    /// The text of the first element of that name.
    func element(_ name: String) -> String? {
        guard let start = body.firstRange(of: "<D:\(name)>"), let end = body.firstRange(of: "</D:\(name)>") else {
            return nil
        }
        return String(body[start.upperBound..<end.lowerBound])
    }
}

extension WebDAVProvider {
    /// Puts a document from memory.
    func putText(
        _ text: String, at path: RelativePath, expecting: Precondition = .absent
    ) async throws(ProviderError) -> RemoteItem {
        let bytes = Array(text.utf8)
        return try await put(
            path, direct: .bytes(bytes, ContentChecksum.sha256(of: bytes)), attributes: Bench.attributes(),
            expecting: expecting)
    }
}
