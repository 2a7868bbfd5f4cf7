import QuireCore
import Synchronization

@testable import QuireProviders

/// A server of locks and nothing else, scripted by what it does wrong.
final class LockServer: Sendable {
    struct Manners: Sendable {
        /// Tells of locks without their tokens, as sabre/dav does.
        var hidesTokens = false
        /// Tells of locks without their owners.
        var hidesOwners = false
        /// Answers that many LOCKs without a token; the lock is granted.
        var forgottenTokens = 0
        /// That many LOCKs are granted to another device as well, at the same moment.
        var sharedGrants = 0
        /// Of two that it grants at once, remembers the other's only.
        var remembersLater = false
        /// That many LOCKs are granted and forgotten at once.
        var lost = 0
        /// The first time that this one is let go it says so, and keeps it.
        var kept: String?
        /// How it answers who renews a lock; nil where it renews it.
        var refusal: (status: String, fields: [String])?
    }

    private struct State {
        var manners: Manners
        var held: [DAVResource.KnownLock] = []
        var granted = 0
        var log: [String] = []
    }

    /// What the server's threads share with tests.
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
            while let (head, body) = peer.request() {
                let text = String(decoding: body, as: UTF8.self)
                let answer = book.state.withLock { Self.answer(&$0, head, text) }
                peer.answer(answer.status, answer.fields, answer.body)
            }
        }
        port = server.port
    }

    /// What was asked, in order, and what tests add.
    var log: [String] { book.state.withLock { $0.log } }

    func note(_ event: String) { book.state.withLock { $0.log.append(event) } }

    /// A client that knows that the server tells of locks.
    func client(_ rhythm: DAVLockRhythm = DAVLockRhythm()) -> DAVClient {
        let transport = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: port))
        var client = DAVClient(transport: transport, address: DAVAddress(origin: transport.origin, base: "/"))
        client.lockRhythm = rhythm
        client.lockNames.state.withLock { $0.areTold = true }
        return client
    }

    private static func answer(
        _ state: inout State, _ head: String, _ body: String
    ) -> (status: String, fields: [String], body: String) {
        let words = head.split(whereSeparator: \.isWhitespace).map(String.init)
        switch words[0] {
        case "LOCK" where state.held.contains { head.contains("<\($0.token)>") }:
            if let refusal = state.manners.refusal {
                state.log.append("LOCK not renewed")
                return (refusal.status, refusal.fields, "")
            }
            state.log.append("LOCK renewed")
            return ("200 OK", [], "")
        case "LOCK": return lock(&state, body)
        case "UNLOCK":
            let token = head.split(separator: "Lock-Token: <").last?.prefix { $0 != ">" } ?? ""
            if state.manners.kept.map({ token == $0 }) == true {
                state.manners.kept = nil
            } else {
                state.held.removeAll { $0.token == token }
            }
            state.log.append("UNLOCK \(token)")
            return ("204 No Content", [], "")
        case "DELETE" where !state.held.isEmpty:
            state.log.append("DELETE refused")
            return ("424 Failed Dependency", [], "")
        case "DELETE":
            state.log.append("DELETE")
            return ("204 No Content", [], "")
        case "PROPFIND":
            state.log.append("PROPFIND")
            let manners = state.manners
            let locks = state.held.map { told($0, manners) }.joined()
            // The other device sees the same, and gives its lock back.
            state.held.removeAll { $0.owner == "other" }
            let text = """
                <D:multistatus xmlns:D="DAV:"><D:response><D:href>\(words[1])</D:href><D:propstat><D:prop>\
                <D:lockdiscovery>\(locks)</D:lockdiscovery></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>\
                </D:response></D:multistatus>
                """
            return ("207 Multi-Status", [], text)
        default: return ("201 Created", [], "")
        }
    }

    private static func lock(_ state: inout State, _ body: String) -> (status: String, fields: [String], body: String) {
        guard state.held.isEmpty else {
            state.log.append("LOCK refused")
            return ("423 Locked", [], "")
        }
        state.log.append("LOCK")
        state.granted += 1
        let token = "urn:\(state.granted)"
        let owner = body.split(separator: "<D:owner>").last?.prefix { $0 != "<" } ?? ""
        if state.granted > state.manners.lost {
            state.held.append(DAVResource.KnownLock(token: token, owner: String(owner)))
        }
        if state.granted <= state.manners.sharedGrants {
            if state.manners.remembersLater { state.held = [] }
            state.held.append(DAVResource.KnownLock(token: "urn:other", owner: "other"))
        }
        return ("200 OK", state.granted <= state.manners.forgottenTokens ? [] : ["Lock-Token: <\(token)>"], "")
    }

    private static func told(_ lock: DAVResource.KnownLock, _ manners: Manners) -> String {
        let token = "<D:locktoken><D:href>\(lock.token)</D:href></D:locktoken>"
        return """
            <D:activelock><D:lockscope><D:exclusive/></D:lockscope>\
            \(manners.hidesOwners ? "" : "<D:owner>\(lock.owner)</D:owner>")\(manners.hidesTokens ? "" : token)\
            </D:activelock>
            """
    }
}
