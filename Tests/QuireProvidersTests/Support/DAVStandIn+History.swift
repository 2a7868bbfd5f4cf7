import QuireCore

@testable import QuireProviders

/// Versions of documents, told as Nextcloud, ownCloud 10 and Infinite Scale tell them.
extension DAVStandIn {
    struct History: Sendable, Hashable {
        enum Form: Sendable, Hashable, CaseIterable {
            /// With the present content among the versions.
            case nextcloud
            /// Without times but in the names.
            case ownCloud
            /// Documents are texts, the collection's own answer has another address, and nobody tells who asks.
            case infiniteScale
        }

        var form: Form
        /// Answers requests for versions in place of the server.
        var mishap: (status: String, body: String)? {
            get { mishapStatus.map { ($0, mishapBody) } }
            set { (mishapStatus, mishapBody) = (newValue?.status, newValue?.body ?? "") }
        }
        private var mishapStatus: String?
        private var mishapBody = ""
        /// Told with what is fetched.
        var checksum: String?

        init(_ form: Form) { self.form = form }
    }

    /// What a document held before, and since when.
    struct Kept: Sendable, Equatable {
        var time: Int
        var content: [UInt8]
    }

    /// The user's name, which nobody logs in with.
    static let user = "ann b/c"
    /// Times are so many seconds later.
    static let epoch = 784_111_777
}

extension DAVStandIn.State {
    private static let space = "xmlns:o=\"http://owncloud.org/ns\""

    /// What a request about versions, or who asks, is answered; nil for others.
    mutating func tellHistory(_ request: DAVStandInRequest) -> Answer? {
        guard let history = manners.history else { return nil }
        if request.method == "PROPFIND", request.path.isEmpty, request.body.contains("current-user-principal"),
            !request.body.contains("fileid")
        {
            guard history.form != .infiniteScale else { return ("404 Not Found", "") }
            let href = "/dav/principals/users/\(PercentEncoding.encode(DAVStandIn.user.utf8))/"
            return (
                "207 Multi-Status",
                multistatus(
                    "<D:response><D:href>/dav/</D:href><D:propstat><D:prop><D:current-user-principal><D:href>\(href)"
                        + "</D:href></D:current-user-principal></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>"
                        + "</D:response>")
            )
        }
        let names = request.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard ["versions", "meta"].contains(names[0]) else { return nil }
        if let mishap = history.mishap { return mishap }
        guard let (place, document, revision) = Self.place(names, history.form),
            let node = nodes.values.first(where: { !$0.isCollection && name($0) == document })
        else { return ("404 Not Found", "") }
        switch (request.method, revision) {
        case ("PROPFIND", nil): return ("207 Multi-Status", multistatus(tell(node, place, history.form)))
        case ("GET", let revision?):
            guard let kept = node.kept.first(where: { "\($0.time + DAVStandIn.epoch)" == revision }) else {
                return ("404 Not Found", "")
            }
            if let checksum = history.checksum { fields = ["OC-Checksum: \(checksum)"] }
            return ("200 OK", String(decoding: kept.content, as: UTF8.self))
        default: return ("405 Method Not Allowed", "")
        }
    }

    /// The collection that a path is of or in, whose it is, and the name in it.
    private static func place(
        _ names: [String], _ form: DAVStandIn.History.Form
    ) -> (place: String, document: String, revision: String?)? {
        if form == .nextcloud {
            // The user's name has a slash in it.
            let user = DAVStandIn.user.split(separator: "/").map(String.init)
            let start = ["versions"] + user + ["versions"]
            guard names.count > start.count, names.starts(with: start) else { return nil }
            let encoded = PercentEncoding.encode(DAVStandIn.user.utf8)
            let document = names[start.count]
            return ("versions/\(encoded)/versions/\(document)", document, names.dropFirst(start.count + 1).first)
        }
        guard names.count > 2, names[0] == "meta", names[2] == "v" else { return nil }
        return ("meta/\(PercentEncoding.encode(names[1].utf8))/v", names[1], names.dropFirst(3).first)
    }

    private func name(_ node: DAVStandIn.Node) -> String {
        manners.history?.form == .infiniteScale ? "store$space!\(node.number)" : "\(node.number)"
    }

    private func tell(_ node: DAVStandIn.Node, _ place: String, _ form: DAVStandIn.History.Form) -> String {
        var own = "/dav/\(place)/"
        // Infinite Scale tells of the document in place of its versions.
        if form == .infiniteScale { own = String(own.dropLast(2)) }
        var body = """
            <D:response><D:href>\(own)</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype>\
            </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat><D:propstat><D:prop><D:getcontentlength/></D:prop>\
            <D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>
            """
        let present = form == .nextcloud ? [DAVStandIn.Kept(time: node.time, content: node.content)] : []
        for kept in present + node.kept {
            let time = form == .ownCloud ? "" : "<D:getlastmodified>\(date(kept.time))</D:getlastmodified>"
            body += """
                <D:response><D:href>/dav/\(place)/\(kept.time + DAVStandIn.epoch)</D:href><D:propstat><D:prop>\
                <D:resourcetype/><D:getcontentlength>\(kept.content.count)</D:getcontentlength>\(time)</D:prop>\
                <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
                """
        }
        return body
    }

    /// What a document tells of itself besides.
    func historyProperties(_ node: DAVStandIn.Node) -> String {
        "<D:getlastmodified>\(date(node.time))</D:getlastmodified><o:fileid \(Self.space)>\(name(node))</o:fileid>"
    }

    func date(_ time: Int) -> String {
        HTTPDate.format(FileTime(seconds: DAVStandIn.epoch + time, nanoseconds: 0))
    }
}
