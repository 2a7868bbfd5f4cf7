import QuireCore

/// Reads a 207 answer (RFC 4918 §13), resource by resource.
final class DAVMultistatus: XMLReceiver {
    /// The namespace of properties that ownCloud has invented, and Nextcloud has.
    static let ownCloud = "http://owncloud.org/ns"

    /// Most resources of one answer.
    static let limit = 2_000_000

    /// What has arrived whole.
    private(set) var resources: [DAVResource] = []
    /// Whether the document is one.
    private(set) var isMultistatus = false
    /// Of a report of what changed, the token to ask with next (RFC 6578 §6.2).
    private(set) var syncToken: String?

    /// What the server is still at work on.
    var early: [DAVResource] { resources.filter(\.isEarly) }

    private var current = DAVResource()
    /// Properties of a propstat whose status has not come yet.
    private var pending = DAVResource()
    private var pendingStatus: Int?
    /// Of the lock that is being told.
    private var active = DAVResource.KnownLock()
    /// The DAV elements that are open; empty text for those of other namespaces.
    private var open: [String] = []

    /// Reads an answer that came whole.
    ///
    /// - Throws: `.failed` for what is no XML.
    static func read(_ answer: HTTPAnswer) throws(ProviderError) -> DAVMultistatus {
        let multistatus = DAVMultistatus()
        let reader = try XMLReader(multistatus)
        try reader.read(answer.body)
        try reader.finish()
        return multistatus
    }

    func begin(space: String, name: String) {
        open.append(space == "DAV:" ? name : "")
        switch open {
        case ["multistatus"]: isMultistatus = true
        case ["multistatus", "response"]: current = DAVResource()
        case ["multistatus", "response", "propstat"]:
            pending = DAVResource()
            pendingStatus = nil
        case ["multistatus", "response", "propstat", "prop", "resourcetype", "collection"]: pending.isDirectory = true
        default: break
        }
    }

    func end(space: String, name: String, text: String) {
        defer { open.removeLast() }
        switch open {
        case ["multistatus", "response"]: if resources.count <= Self.limit { resources.append(current) }
        case ["multistatus", "sync-token"]: syncToken = text.trimmed
        case ["multistatus", "response", "href"]: current.href = text
        case ["multistatus", "response", "status"]: current.status = Self.status(text)
        case ["multistatus", "response", "propstat", "status"]: pendingStatus = Self.status(text)
        case ["multistatus", "response", "propstat"]:
            if let status = pendingStatus, (200..<300).contains(status) {
                take()
            } else if pendingStatus != 404 {
                if current.status == nil, !current.hasProperties { refusals = true }
                current.refused = pendingStatus
            }
        case _ where open.last == "responsedescription" && open.count < 5: current.words = text
        default:
            lock(text)
            if open.suffix(2) == ["current-user-principal", "href"] { pending.principal = DAVPrincipal(href: text) }
            guard open.count == 5, open.starts(with: ["multistatus", "response", "propstat", "prop"]) else { return }
            property(space, name, text)
        }
    }

    /// Takes an element in a `lockdiscovery`.
    private func lock(_ text: String) {
        if open.suffix(3) == ["activelock", "locktoken", "href"] {
            active.token = text.filter { !$0.isWhitespace }
        } else if open.suffix(2) == ["activelock", "owner"] {
            active.owner = text.trimmed
        } else if open.last == "activelock" {
            pending.locks.append(active)
            active = DAVResource.KnownLock()
        }
    }

    /// Whether some property was refused, as to a PROPPATCH.
    private(set) var refusals = false

    private func property(_ space: String, _ name: String, _ text: String) {
        switch (space, name) {
        case ("DAV:", "getcontentlength"): pending.size = Int64(text.filter { !$0.isWhitespace })
        case ("DAV:", "getlastmodified"): pending.modified = HTTPDate.parse(text)
        case ("DAV:", "getetag"): pending.entityTag = text
        case ("DAV:", "quota-available-bytes"): pending.freeBytes = Int64(text)
        case ("DAV:", "sync-token"): pending.syncToken = text.trimmed
        case (DAVStamp.space, DAVStamp.name): pending.stamp = text
        case (Self.ownCloud, "fileid"): pending.document = FileName(text.trimmed)
        case (Self.ownCloud, "data-fingerprint"): pending.fingerprint = text.trimmed
        default: break
        }
    }

    /// Adds the properties of a propstat that was granted.
    private func take() {
        current.hasProperties = true
        current.isDirectory = current.isDirectory || pending.isDirectory
        current.size = pending.size ?? current.size
        current.modified = pending.modified ?? current.modified
        current.entityTag = pending.entityTag ?? current.entityTag
        current.locks += pending.locks
        current.stamp = pending.stamp ?? current.stamp
        current.freeBytes = pending.freeBytes ?? current.freeBytes
        current.syncToken = pending.syncToken ?? current.syncToken
        current.document = pending.document ?? current.document
        current.fingerprint = pending.fingerprint ?? current.fingerprint
        current.principal = pending.principal ?? current.principal
    }

    /// The number in `HTTP/1.1 200 OK`.
    private static func status(_ text: String) -> Int? {
        text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }
}
