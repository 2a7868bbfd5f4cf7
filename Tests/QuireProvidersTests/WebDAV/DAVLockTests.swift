import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

/// Servers that grant an exclusive lock to two who ask at once, keep tokens to themselves, or forget to tell them.
@Suite("Locks of WebDAV servers")
struct DAVLockTests {
    private static let ways = [
        LockServer.Manners(), LockServer.Manners(hidesTokens: true), LockServer.Manners(hidesOwners: true),
    ]

    /// Changes something once under a lock, as a device does: `look` is what the change depends on.
    private func change(_ server: LockServer, _ client: DAVClient) async throws(ProviderError) {
        try await client.withLocks(on: ["a"]) { (_) throws(ProviderError) in server.note("look") }
    }

    @Test("A lock that is held alone is recognised by its token or by its owner", arguments: ways)
    func alone(manners: LockServer.Manners) async throws {
        let server = try LockServer(manners)
        try await change(server, server.client())
        #expect(server.log == ["LOCK", "PROPFIND", "look", "UNLOCK urn:1"])
    }

    @Test("A server that loses a lock for once is not taken for one without locks", arguments: [0, 1, 3, 1000])
    func lost(count: Int) async throws {
        let server = try LockServer(LockServer.Manners(lost: count))
        var probe = DAVProbe(client: server.client(), root: "scratch")
        try await probe.tryLocks()
        #expect(probe.abilities.locks == (count < 1000), "\(server.log)")
        #expect(count == 1000 || !server.log.isEmpty && server.log.filter { $0 == "LOCK renewed" }.count == 1)
    }

    @Test(
        "A lock that two were granted is given back, and nothing is looked at before one is held alone",
        arguments: ways, [false, true])
    func shared(manners: LockServer.Manners, remembersLater: Bool) async throws {
        var manners = manners
        manners.sharedGrants = 2
        manners.remembersLater = remembersLater
        let server = try LockServer(manners)
        try await change(server, server.client())
        #expect(
            server.log == [
                "LOCK", "PROPFIND", "UNLOCK urn:1", "LOCK", "PROPFIND", "UNLOCK urn:2", "LOCK", "PROPFIND", "look",
                "UNLOCK urn:3",
            ])
    }

    @Test("A lock that was granted without a token is let go by what the server tells of it")
    func tokenless() async throws {
        let server = try LockServer(LockServer.Manners(forgottenTokens: 1))
        let client = server.client()
        let code = await refusal { try await change(server, client) }
        #expect(code == .failed)
        try await change(server, client)
        #expect(
            server.log == [
                "LOCK", "LOCK refused", "PROPFIND", "UNLOCK urn:1", "LOCK", "PROPFIND", "look", "UNLOCK urn:2",
            ])
    }

    @Test(
        "A lock that the server keeps although it was let go is let go again before it is in another device's way",
        arguments: ways)
    func keptFromOthers(manners: LockServer.Manners) async throws {
        var manners = manners
        manners.kept = "urn:1"
        let server = try LockServer(manners)
        let client = server.client()
        client.lockNames.state.withLock { $0.areTold = true }
        try await change(server, client)
        await client.mendReleased()
        try await change(server, server.client())
        let mended = ["LOCK", "PROPFIND", "look", "UNLOCK urn:1", "PROPFIND", "UNLOCK urn:1"]
        #expect(server.log == mended + ["LOCK", "PROPFIND", "look", "UNLOCK urn:2"])
        // Once.
        await client.mendReleased()
        #expect(server.log.count == mended.count + 4)
    }

    @Test("A lock that the server keeps although it was let go does not keep the probe's directory", arguments: ways)
    func kept(manners: LockServer.Manners) async throws {
        var manners = manners
        manners.kept = "urn:2"
        let server = try LockServer(manners)
        let client = server.client()
        var probe = DAVProbe(client: client, root: "scratch")
        try await probe.tryLocks()
        #expect(probe.abilities.locks)
        await client.discard("scratch", isDirectory: true)
        #expect(server.log.suffix(4) == ["DELETE refused", "PROPFIND", "UNLOCK urn:2", "DELETE"])
    }

    /// Changes something under a lock that is not renewed, once a renewal was tried.
    private func changeLate(_ server: LockServer, life: Duration) async -> ProviderError? {
        let rhythm = DAVLockRhythm(
            renewal: .milliseconds(20), retry: .milliseconds(20), patience: .seconds(30), life: life)
        do throws(ProviderError) {
            try await server.client(rhythm).withLocks(on: ["a"]) { (_) throws(ProviderError) in
                // Ends once the lock is lost; else the change is made.
                try await HTTPFailure.pause(.seconds(20))
                server.note("write")
            }
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Who holds a lock that is gone changes nothing any more",
        arguments: ["404 Not Found", "409 Conflict", "412 Precondition Failed", "423 Locked"])
    func gone(status: String) async throws {
        let server = try LockServer(LockServer.Manners(refusal: (status, [])))
        let error = await changeLate(server, life: .seconds(60))
        #expect(error?.code == .failed && error?.message.contains("the lock was lost") == true, "\(error as Any)")
        // The look at the lock may have been cut by then.
        #expect(
            server.log.filter { $0 != "PROPFIND" } == ["LOCK", "LOCK not renewed", "UNLOCK urn:1"], "\(server.log)")
    }

    @Test(
        "A lock that is not renewed until it nearly ends counts as lost, and is let go also of a server that wants a pause",
        arguments: [[], ["Retry-After: 600"]])
    func unrenewed(fields: [String]) async throws {
        let server = try LockServer(LockServer.Manners(refusal: ("503 Service Unavailable", fields)))
        let error = await changeLate(server, life: .seconds(2))
        #expect(error?.code == .failed && error?.message.contains("the lock was lost") == true, "\(error as Any)")
        #expect(server.log.filter { $0 == "LOCK not renewed" }.count > 1 && server.log.last == "UNLOCK urn:1")
        #expect(!server.log.contains("write"))
    }

    @Test("A lock is renewed as long as it is held")
    func renewed() async throws {
        let server = try LockServer(LockServer.Manners())
        let client = server.client(DAVLockRhythm(renewal: .milliseconds(20), life: .seconds(30)))
        try await client.withLocks(on: ["a"]) { (_) throws(ProviderError) in
            while server.log.filter({ $0 == "LOCK renewed" }).count < 3 {
                try await HTTPFailure.pause(.milliseconds(5))
            }
        }
        #expect(server.log.last == "UNLOCK urn:1")
    }

    @Test(
        "A server that is in trouble when a directory is locked with all below is not taken for one that cannot do that",
        arguments: [
            ("401 Unauthorized", true), ("404 Not Found", true), ("423 Locked", true), ("207 Multi-Status", true),
            ("429 Too Many Requests", true), ("500 Internal Server Error", true), ("502 Bad Gateway", true),
            ("503 Service Unavailable", true), ("200 OK", true), ("400 Bad Request", false), ("403 Forbidden", false),
            ("405 Method Not Allowed", false), ("409 Conflict", false), ("412 Precondition Failed", false),
            ("501 Not Implemented", false),
        ])
    func trees(status: String, isTrouble: Bool) async throws {
        let server = try DAVStandIn(.init(locks: true))
        let client = server.provider().client
        let granted = try await client.lockTree("d")
        #expect(granted?.token != nil)
        server.with { $0.trouble = DAVStandIn.Trouble(status: status, method: "LOCK") }
        let code = await refusal {
            let none = try await client.lockTree("d")
            #expect(none?.token == nil)
        }
        #expect((code != nil) == isTrouble)
    }

    @Test("Each lock has an owner of its own")
    func owners() {
        #expect(Set((0..<1000).map { _ in DAVLock.freshOwner() }).count == 1000)
    }

    @Test("Only the one lock that is told is alone, and only if it is this one")
    func recognition() {
        let lock = DAVLock(path: "l", token: "t", owner: "o")
        let mine = DAVResource.KnownLock(token: "t", owner: "o")
        let other = DAVResource.KnownLock(token: "x", owner: "o")
        let hidden = DAVResource.KnownLock(token: "", owner: "o")
        let nameless = DAVResource.KnownLock(token: "", owner: "")
        #expect(lock.isAlone(in: [mine]) && lock.isAlone(in: [hidden]))
        for told in [[], [other], [nameless], [mine, mine], [mine, nameless], [hidden, hidden]] {
            #expect(!lock.isAlone(in: told))
        }
    }

    @Test("A lock that was let go is known again, also without its token; one of another is not")
    func stale() throws {
        let names = DAVLockNames()
        names.released([DAVLock(path: "l", isDirectory: true, token: "t", owner: "o")])
        names.lost("lost")
        func found(_ token: String, _ owner: String) -> String? {
            names.stale(DAVResource.KnownLock(token: token, owner: owner), at: "l")?.token
        }
        #expect(found("t", "o") == "t" && found("t", "") == "t" && found("", "o") == "t")
        #expect(found("u", "lost") == "u" && found("", "lost") == nil)
        #expect(found("u", "another") == nil && found("", "") == nil)
    }
}
