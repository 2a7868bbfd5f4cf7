import QuireCore

@testable import QuireProviders

extension DAVStandIn.State {
    typealias Answer = (status: String, body: String)

    private static func parent(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    private static func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

    /// Where something is that is asked for by another name.
    private func place(_ path: String) -> String {
        if manners.lowersNames { return path.lowercased() }
        guard !manners.folding.isEmpty else { return path }
        func folded(_ path: String) -> [FoldedName] {
            path.split(separator: "/").compactMap { FileName(String($0)).map { FoldedName($0, manners.folding) } }
        }
        return nodes.keys.first { folded($0) == folded(path) } ?? path
    }

    mutating func answer(_ request: DAVStandInRequest) -> Answer {
        var request = request
        request.path = place(request.path)
        log.append("\(request.method) \(request.path)")
        noteHalf(request)
        if let next = intruder, next.methods.contains(request.method), next.path == request.path {
            intruder = nil
            next.act(&self, request)
        }
        if let troubled = troubled(request) { return troubled }
        if let told = tellHistory(request) { return told }
        if manners.heedsTags.contains(request.method), let condition = request.fields["if"],
            !condition.contains("[\"\(nodes[request.path]?.tag ?? 0)\"]")
        {
            return ("412 Precondition Failed", "")
        }
        noteLook(request)
        switch request.method {
        case "PROPFIND": return list(request)
        case "REPORT": return report(request)
        case "GET":
            guard let node = nodes[request.path], !node.isCollection else { return ("404 Not Found", "") }
            if let cached = manners.cached, request.fields["cache-control"] != "no-cache" { return ("200 OK", cached) }
            if manners.secondsPerWrite != nil {
                fields = ["Last-Modified: \(date(node.time))", "ETag: \"\(node.tag)\""]
            }
            if let part = part(request, node.content) { return part }
            return ("200 OK", String(decoding: flipped(node.content, request.path), as: UTF8.self))
        case "HEAD": return nodes[request.path]?.isCollection == false ? ("200 OK", "") : ("404 Not Found", "")
        case "PUT": return put(request)
        case "MKCOL":
            if nodes[request.path] != nil { return ("405 Method Not Allowed", "") }
            return makeCollection(request.path) ? ("201 Created", "") : ("409 Conflict", "")
        case "DELETE": return remove(request.path) ? ("204 No Content", "") : ("404 Not Found", "")
        case "MOVE": return move(request)
        case "PROPPATCH": return stamp(request)
        case "LOCK" where manners.locks: return lock(request)
        case "UNLOCK" where manners.locks:
            locks[request.path] = nil
            return ("204 No Content", "")
        default: return ("405 Method Not Allowed", "")
        }
    }

    /// The part that is asked for; nil where it is the whole.
    private mutating func part(_ request: DAVStandInRequest, _ content: [UInt8]) -> Answer? {
        let ends = request.fields["range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        guard let ends, ends.count == 2, ends[0] <= ends[1], ends[1] < content.count else { return nil }
        fields.append("Content-Range: bytes \(ends[0])-\(ends[1])/\(content.count)")
        return ("206 Partial Content", String(decoding: content[ends[0]...ends[1]], as: UTF8.self))
    }

    private mutating func troubled(_ request: DAVStandInRequest) -> Answer? {
        guard var next = trouble, next.times > 0, next.method == request.method || next.method.isEmpty,
            next.depth == nil || next.depth == request.fields["depth"], request.path.hasPrefix(next.prefix),
            request.path.hasSuffix(next.suffix)
        else { return nil }
        next.times -= 1
        if next.spreads { next = DAVStandIn.Trouble(status: next.status, method: "") }
        trouble = next
        return (next.status, "")
    }

    private mutating func flipped(_ content: [UInt8], _ path: String) -> [UInt8] {
        guard manners.flips > 0, path.hasSuffix("/whole") else { return content }
        manners.flips -= 1
        return [content[0] ^ 1] + content.dropFirst()
    }

    private mutating func lock(_ request: DAVStandInRequest) -> Answer {
        if let token = locks[request.path] {
            return (request.fields["if"] == "(<\(token)>)" ? "200 OK" : "423 Locked", "")
        }
        tag += 1
        locks[request.path] = "urn:\(tag)"
        fields = ["Lock-Token: <urn:\(tag)>"]
        return ("200 OK", "")
    }

    private mutating func noteLook(_ request: DAVStandInRequest) {
        if request.method == "PUT" { looks = 0 }
        guard request.method == "PROPFIND" else { return }
        (looks, looksInAll) = (looks + 1, looksInAll + 1)
        isOdd =
            switch manners.oddTags {
            case nil: false
            case .listings: request.fields["depth"] != "0"
            case .everySecond: looksInAll % 2 == 0
            case .firstLook: looks == 1
            }
    }

    private func list(_ request: DAVStandInRequest) -> Answer {
        guard let node = nodes[request.path] else { return ("404 Not Found", "") }
        let depth = request.fields["depth"] ?? "infinity"
        if depth == "infinity", !manners.listsAll { return ("403 Forbidden", "") }
        if depth == "1", request.path == manners.unlisted {
            return ("207 Multi-Status", multistatus(refusal(request.path)))
        }
        var paths = [request.path]
        if depth == "1" {
            let names = node.names.sorted().filter {
                $0 != manners.hidden && (!manners.hidesDotNames || !$0.hasPrefix("."))
            }
            paths += names.map { request.path.isEmpty ? $0 : "\(request.path)/\($0)" }
        }
        if depth == "infinity" { paths += nodes.keys.filter { $0 != request.path && isIn($0, request.path) } }
        return ("207 Multi-Status", multistatus(paths.map { response($0, nodes[$0]) }.joined()))
    }

    private func isIn(_ path: String, _ collection: String) -> Bool {
        collection.isEmpty || path == collection || path.hasPrefix("\(collection)/")
    }

    private mutating func noteHalf(_ request: DAVStandInRequest) {
        guard let slowness = manners.slowness, let path = nodes.keys.first(where: { $0.hasSuffix("/whole") }) else {
            return
        }
        sinceHalf += 1
        if sinceHalf == slowness { nodes[path]?.content = Array("half".utf8) }
    }

    private mutating func put(_ request: DAVStandInRequest) -> Answer {
        let path = request.path
        guard nodes[path]?.isCollection != true else { return ("405 Method Not Allowed", "") }
        let isNew = nodes[path] == nil
        if !isNew, request.fields["if-none-match"] == "*" { return ("412 Precondition Failed", "") }
        guard write(path, remade(path, request.body)) else { return ("409 Conflict", "") }
        if let written = manners.writtenTag {
            fields.append("ETag: \"\(written == .another ? "w" : "")\(nodes[path]?.tag ?? 0)\"")
        }
        return (isNew ? "201 Created" : "204 No Content", "")
    }

    private func remade(_ path: String, _ text: String) -> String {
        path.hasSuffix(".docx") ? text + (manners.officeMark ?? "") : text
    }

    private mutating func stamp(_ request: DAVStandInRequest) -> Answer {
        guard nodes[request.path] != nil, manners.keepsStamps else { return ("403 Forbidden", "") }
        let stamp = request.body.split(separator: "<q:stamp>").last?.prefix { $0 != "<" }
        nodes[request.path]?.stamp = stamp.map(String.init)
        if manners.stampsRetag {
            tag += 1
            nodes[request.path]?.tag = tag
        }
        if manners.tokens?.tellsStamps == true { journal.append(request.path) }
        if manners.tagsFollowStamps { retag(request.path, isName: false) }
        let body = """
            <D:response><D:href>/dav/\(request.path)</D:href><D:propstat><D:prop/><D:status>HTTP/1.1 200 OK</D:status>\
            </D:propstat></D:response>
            """
        return ("207 Multi-Status", multistatus(body))
    }

    private mutating func move(_ request: DAVStandInRequest) -> Answer {
        let place = request.fields["destination"] ?? ""
        if let refusal = place.hasPrefix("/") ? manners.pathRefusal : manners.urlRefusal {
            refusedMoves += 1
            return (refusal, "")
        }
        let destination = DAVStandInRequest.path(place)
        if nodes[destination] != nil, request.fields["overwrite"] == "F" { return ("412 Precondition Failed", "") }
        if let name = manners.unmoved, let names = nodes[request.path]?.names, names.contains(name) {
            makeCollection(destination)
            for other in names where other != name { move("\(request.path)/\(other)", to: "\(destination)/\(other)") }
            return ("207 Multi-Status", multistatus(refusal("\(request.path)/\(name)")))
        }
        guard move(request.path, to: destination) else { return ("409 Conflict", "") }
        if manners.officeMark != nil, destination.hasSuffix(".docx"), let sent = nodes[destination]?.content {
            write(destination, remade(destination, String(decoding: sent, as: UTF8.self)))
        }
        if manners.movesRetag, nodes[destination]?.isCollection == false {
            tag += 1
            nodes[destination]?.tag = tag
        }
        return ("201 Created", "")
    }

    // MARK: - what other programs do

    /// Sets an `intruder` for the second such request from now.
    mutating func intrudeNextButOne(
        _ methods: Set<String>, _ path: String,
        _ act: @escaping @Sendable (inout DAVStandIn.State, DAVStandInRequest) -> Void
    ) {
        intruder = (methods, path, { state, _ in state.intruder = (methods, path, act) })
    }

    /// Writes a document; whether its collection is there.
    @discardableResult
    mutating func write(_ path: String, _ text: String) -> Bool {
        guard nodes[Self.parent(path)]?.isCollection == true else { return false }
        let old = nodes[path]
        let isNew = old == nil
        tag += 1
        var (own, time) = (tag, tag)
        if let pause = manners.secondsPerWrite {
            time = Int(seconds)
            if !manners.hasOwnTags { own = time * 1_000_000 + text.utf8.count }
            seconds += pause
        }
        nodes[path] = DAVStandIn.Node(
            isCollection: false, content: Array(text.utf8), tag: own, stamp: old?.stamp, number: old?.number ?? tag,
            time: time,
            kept: (old?.kept ?? []) + (old.map { [DAVStandIn.Kept(time: $0.time, content: $0.content)] } ?? []))
        nodes[Self.parent(path)]?.names.insert(Self.name(path))
        note(path, isName: isNew)
        return true
    }

    @discardableResult
    mutating func makeCollection(_ path: String) -> Bool {
        guard nodes[Self.parent(path)]?.isCollection == true, nodes[path] == nil else { return false }
        tag += 1
        nodes[path] = DAVStandIn.Node(isCollection: true, tag: tag)
        nodes[Self.parent(path)]?.names.insert(Self.name(path))
        if manners.tokens?.tellsCollections == false {
            retag(path, isName: true)
        } else {
            note(path, isName: true)
        }
        return true
    }

    /// Removes a document, or a collection with all in it.
    @discardableResult
    mutating func remove(_ path: String) -> Bool {
        guard !path.isEmpty, nodes[path] != nil else { return false }
        for other in nodes.keys where isIn(other, path) { nodes[other] = nil }
        nodes[Self.parent(path)]?.names.remove(Self.name(path))
        note(path, isName: true)
        return true
    }

    @discardableResult
    mutating func move(_ path: String, to destination: String) -> Bool {
        guard !path.isEmpty, nodes[path] != nil, nodes[Self.parent(destination)]?.isCollection == true,
            !isIn(destination, path), !isIn(path, destination)
        else { return false }
        if nodes[destination] != nil { remove(destination) }
        for other in nodes.keys.filter({ isIn($0, path) }).sorted() {
            let target = destination + other.dropFirst(path.count)
            nodes[target] = nodes.removeValue(forKey: other)
            if target != destination, manners.tokens?.tellsMembers != false { journal.append(target) }
        }
        nodes[Self.parent(path)]?.names.remove(Self.name(path))
        nodes[Self.parent(destination)]?.names.insert(Self.name(destination))
        note(path, isName: true)
        note(destination, isName: true)
        return true
    }

    private mutating func note(_ path: String, isName: Bool) {
        journal.append(path)
        if manners.tokens?.tellsParents == true { journal.append(Self.parent(path)) }
        retag(path, isName: isName)
    }

    /// Gives the collections that a path lies in new tags, as the server's manners are.
    private mutating func retag(_ path: String, isName: Bool) {
        let isUpwards =
            switch manners.tags {
            case .none: Bool?.none
            case .parent: false
            case .namesUpwards: isName
            case .upwards, .upwardsBySeconds: true
            }
        guard let isUpwards else { return }
        var current = path
        while !current.isEmpty {
            current = Self.parent(current)
            tag += 1
            nodes[current]?.tag = manners.tags == .upwardsBySeconds ? tag / 1000 : tag
            if !isUpwards { return }
        }
    }

    // MARK: - what changed

    private static let scheme = "http://sabre.io/ns/sync/"

    private mutating func report(_ request: DAVStandInRequest) -> Answer {
        if !mishaps.isEmpty { return mishaps.removeFirst() }
        guard let tokens = manners.tokens, request.path.isEmpty else { return ("415 Unsupported Media Type", "") }
        guard tokens.isDeep || request.element("sync-level") != "infinite" else { return ("400 Bad Request", "") }
        let text = request.element("sync-token") ?? ""
        let number = text.hasPrefix(Self.scheme) ? Int(text.dropFirst(Self.scheme.count)) : nil
        guard let since = number ?? (tokens.takesAnyToken ? journal.count : nil), (0...journal.count).contains(since),
            since > forgotten
        else {
            let reason = tokens.namesReason ? "<d:valid-sync-token/>" : ""
            return (tokens.refusal, "<?xml version=\"1.0\"?>\n<d:error xmlns:d=\"DAV:\">\(reason)</d:error>")
        }
        var told: [String] = []
        var end = since
        while end < journal.count, told.count < tokens.page ?? .max {
            let path = journal[end]
            end += 1
            if !told.contains(path), !tokens.isShallow || path.split(separator: "/").count < 2 { told.append(path) }
        }
        var body = told.map { response($0, nodes[$0]) }.joined()
        if end < journal.count {
            body += "<D:response><D:href>/dav/</D:href><D:status>HTTP/1.1 507 X</D:status></D:response>"
        }
        return ("207 Multi-Status", multistatus("\(body)<D:sync-token>\(Self.scheme)\(end)</D:sync-token>"))
    }

    func multistatus(_ body: String) -> String {
        "<?xml version=\"1.0\"?>\n<D:multistatus xmlns:D=\"DAV:\" xmlns:q=\"urn:quire\">\(body)</D:multistatus>"
    }

    /// What is said of something that may not be touched.
    private func refusal(_ path: String) -> String {
        """
        <D:response><D:href>/dav/\(path)</D:href><D:propstat><D:prop/><D:status>HTTP/1.1 403 Forbidden</D:status>\
        </D:propstat></D:response>
        """
    }

    private func response(_ path: String, _ node: DAVStandIn.Node?) -> String {
        let href = "/dav/\(PercentEncoding.encode(path.utf8).replacing("%2F", with: "/"))"
        guard let node else {
            return "<D:response><D:status>HTTP/1.1 404 Not Found</D:status><D:href>\(href)</D:href></D:response>"
        }
        if path == manners.unshown { return refusal(path) }
        var properties = node.stamp.map { "<q:stamp>\($0)</q:stamp>" } ?? ""
        if node.isCollection {
            properties += "<D:resourcetype><D:collection/></D:resourcetype>"
            if manners.tags != .none { properties += "<D:getetag>\"\(node.tag)\"</D:getetag>" }
            if path.isEmpty, let word = manners.fingerprint {
                properties += "<o:data-fingerprint xmlns:o=\"\(DAVMultistatus.ownCloud)\">\(word)</o:data-fingerprint>"
            }
            if path.isEmpty, manners.tokens != nil {
                properties += "<D:sync-token>\(Self.scheme)\(journal.count)</D:sync-token>"
            }
        } else {
            properties += "<D:getcontentlength>\(node.content.count)</D:getcontentlength>"
            if !manners.tellsNoVersions { properties += "<D:getetag>\"\(node.tag)\(isOdd ? "-odd" : "")\"</D:getetag>" }
            if manners.secondsPerWrite != nil {
                properties += "<D:getlastmodified>\(date(node.time))</D:getlastmodified>"
            } else if manners.history == nil {
                let second = isOdd && manners.oddTimes ? 38 : 37
                properties += "<D:getlastmodified>Sun, 06 Nov 1994 08:49:\(second) GMT</D:getlastmodified>"
            } else {
                properties += historyProperties(node)
            }
        }
        return """
            <D:response><D:href>\(href)\(node.isCollection ? "/" : "")</D:href><D:propstat><D:prop>\(properties)</D:prop>\
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
            """
    }
}
