import QuireCore
import Testing

@testable import QuireProviders

@Suite("Versions that WebDAV servers keep")
struct DAVHistoryTests {
    typealias History = DAVStandIn.History

    private let work: TemporaryDirectory

    init() throws { work = try TemporaryDirectory() }

    private func connected(_ history: History?) async throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let server = try DAVStandIn(DAVStandIn.Manners(history: history))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        return (server, provider)
    }

    /// Writes a document several times.
    private func write(
        _ texts: [String], _ path: RelativePath, _ provider: WebDAVProvider
    ) async throws -> [RemoteItem] {
        var items: [RemoteItem] = []
        for text in texts {
            let bytes = Array(text.utf8)
            let snapshot = work.appending("snapshot")
            Plain.write(text, to: snapshot)
            let content = UploadContent(
                snapshotPath: snapshot, size: ByteCount(Int64(bytes.count)), checksum: .sha256(of: bytes))
            items.append(
                try await provider.put(
                    path, content: content, attributes: Bench.attributes(),
                    expecting: items.last.map { .version($0.version) } ?? .absent))
        }
        return items
    }

    private func fetch(
        _ item: RemoteItem, _ provider: WebDAVProvider
    ) async throws -> (item: RemoteItem, text: String?) {
        let target = work.appending("fetched-\(UInt64.random(in: 0 ... .max))")
        let fetched = try await provider.fetch(item.path, version: item.version, to: target) { _ in }
        return (fetched, Plain.text(target))
    }

    @Test(
        "What was replaced is listed, the newest first, with its size and time, and fetched; the present content is not told",
        arguments: History.Form.allCases)
    func listed(form: History.Form) async throws {
        let (server, provider) = try await connected(History(form))
        #expect(provider.capabilities.earlierVersions)
        var isUnsettled = false
        let history = try await DAVProbe.history(provider.client, &isUnsettled)
        #expect(history == provider.abilities.history && !isUnsettled, "as of a full account")
        // The same bytes twice are two versions.
        let texts = ["one", "two two", "one", ""]
        _ = try await write(texts, "a b", provider)
        _ = try await write(["other"], "other", provider)
        let times = try #require(server.with { $0.nodes["a b"]?.kept.map(\.time) })
        let earlier = try await provider.earlierVersions(of: "a b")
        #expect(earlier.map(\.size.bytes) == [3, 7, 3] && Set(earlier.map(\.version)).count == 3)
        #expect(
            earlier.map { $0.mtime }
                == times.reversed().map { FileTime(seconds: $0 + DAVStandIn.epoch, nanoseconds: 0) })
        for (item, text) in zip(earlier, ["one", "two two", "one"]) {
            let fetched = try await fetch(item, provider)
            #expect(fetched.text == text && fetched.item.checksum == .sha256(of: Array(text.utf8)))
            #expect(fetched.item.version == item.version && fetched.item.size == item.size)
        }
        #expect(try await provider.earlierVersions(of: "other").isEmpty)
        #expect(await refusal { try await provider.earlierVersions(of: "none") } == .notFound)
        _ = try await provider.createDirectory("d", attributes: Bench.attributes(0o755))
        #expect(try await provider.earlierVersions(of: "d").isEmpty)
    }

    @Test(
        "Versions follow a document that is moved; another one in its place has none", arguments: History.Form.allCases)
    func moved(form: History.Form) async throws {
        let (_, provider) = try await connected(History(form))
        let items = try await write(["one", "two two"], "a", provider)
        let before = try await provider.earlierVersions(of: "a")
        _ = try await provider.createDirectory("d", attributes: Bench.attributes(0o755))
        _ = try await provider.move("a", to: "d/b", expecting: items.last?.version)
        _ = try await write(["another"], "a", provider)
        #expect(try await provider.earlierVersions(of: "a").isEmpty)
        let after = try await provider.earlierVersions(of: "d/b")
        #expect(after.map(\.version) == before.map(\.version) && after.map(\.path) == ["d/b"])
        #expect(try await fetch(try #require(after.first), provider).text == "one")
    }

    @Test("A server that gives documents no identifiers is asked nothing more")
    func withoutIdentifiers() async throws {
        let (server, provider) = try await connected(nil)
        #expect(!server.takeLog().contains { $0.contains(" versions/") || $0.contains(" meta/") })
        #expect(!provider.capabilities.earlierVersions)
        #expect(await refusal { try await provider.earlierVersions(of: "a") } == .unsupported)
        let version = DAVRevision(of: "1", "2").version
        #expect(
            await refusal { try await provider.fetch("a", version: version, to: work.appending("x")) { _ in } }
                == .notFound)
    }

    @Test(
        "An account at a server that refuses versions, in whatever way, is connected without",
        arguments: [
            "404 Not Found", "403 Forbidden", "405 Method Not Allowed", "401 Unauthorized", "500 Internal Server Error",
            "501 Not Implemented", "302 Found", "200 OK", "207 Multi-Status", "502 Bad Gateway",
            "503 Service Unavailable", "504 Gateway Timeout", "429 Too Many Requests",
        ])
    func refused(status: String) async throws {
        var history = History(.nextcloud)
        history.mishap = (status, "<html>no versions</html>")
        let (_, provider) = try await connected(history)
        #expect(!provider.capabilities.earlierVersions)
        #expect(try await write(["one"], "a", provider).count == 1)
    }

    @Test("A server that is busy when it is asked for versions is asked once more; one that is gone then is not judged")
    func busy() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(history: History(.nextcloud)))
        let provider = server.provider()
        var trouble = DAVStandIn.Trouble(
            status: "503 Service Unavailable", method: "PROPFIND", depth: "1", prefix: "versions/")
        trouble.spreads = true
        server.with { $0.trouble = trouble }
        #expect(await refusal { try await provider.connect(expected: nil) } == .unavailable)
        trouble.spreads = false
        trouble.times = 1
        server.with { $0.trouble = trouble }
        _ = try await provider.connect(expected: nil)
        #expect(provider.capabilities.earlierVersions)
    }

    @Test("What a busy server could not be asked about is tried again at the next connection; what it refused is not")
    func busyTwice() async throws {
        for status in ["503 Service Unavailable", "404 Not Found"] {
            var history = History(.nextcloud)
            history.mishap = (status, "")
            let server = try DAVStandIn(DAVStandIn.Manners(history: history, locks: true))
            let provider = server.provider()
            let identity = try await provider.connect(expected: nil)
            #expect(!provider.capabilities.earlierVersions)
            #expect(provider.capabilities.conditionalWrites == .locked)
            server.with { $0.manners.history?.mishap = nil }
            _ = server.takeLog()
            _ = try await provider.connect(expected: identity)
            #expect(provider.capabilities.earlierVersions == status.hasPrefix("503"))
            #expect(server.takeLog().contains { $0.hasPrefix("PUT") } == status.hasPrefix("503"))
        }
    }

    @Test("What a busy server could not be asked about is tried again at later looks for changes, ever more rarely")
    func busyAtFirst() async throws {
        var history = History(.nextcloud)
        history.mishap = ("503 Service Unavailable", "")
        let (server, provider) = try await connected(history)
        var trials: [Int] = []
        for look in 1...6 {
            _ = server.takeLog()
            _ = try await provider.changes(since: nil)
            if server.takeLog().contains(where: { $0.hasPrefix("PUT") }) { trials.append(look) }
        }
        #expect(trials == [2, 6])
        #expect(!provider.capabilities.earlierVersions)
        server.with { $0.manners.history?.mishap = nil }
        for _ in 0..<8 { _ = try await provider.changes(since: nil) }
        #expect(provider.capabilities.earlierVersions)
        _ = server.takeLog()
        for _ in 0..<16 { _ = try await provider.changes(since: nil) }
        #expect(!server.takeLog().contains { $0.hasPrefix("PUT") })
    }

    @Test("What is no listing of versions is an error, and no shorter list; versions that are kept no more are none")
    func mishaps() async throws {
        let (server, provider) = try await connected(History(.nextcloud))
        _ = try await write(["one", "two two"], "a", provider)
        func refused(_ status: String, _ body: String = "") async -> ProviderError.Code? {
            server.with { $0.manners.history?.mishap = (status, body) }
            return await refusal { try await provider.earlierVersions(of: "a") }
        }
        func listing(_ href: String, _ properties: String, _ status: String = "200 OK") -> String {
            "<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>\(href)</D:href><D:propstat><D:prop>\(properties)</D:prop>"
                + "<D:status>HTTP/1.1 \(status)</D:status></D:propstat></D:response></D:multistatus>"
        }
        #expect(await refused("503 Service Unavailable") == .unavailable)
        #expect(await refused("401 Unauthorized") == .unavailable)
        #expect(await refused("403 Forbidden") == .permissionDenied)
        #expect(await refused("500 Internal Server Error") == .failed)
        #expect(await refused("200 OK", "<html/>") == .failed)
        #expect(await refused("207 Multi-Status", "<D:multistatus xmlns:D=\"DAV:\"><D:resp") == .failed)
        let size = "<D:getcontentlength>1</D:getcontentlength>"
        #expect(await refused("207 Multi-Status", listing("/dav/other", size)) == .failed)
        let versions = DAVStandIn.user.split(separator: "/").joined(separator: "%2F").replacing(" ", with: "%20")
        let number = try #require(server.with { $0.nodes["a"]?.number })
        let place = "/dav/versions/\(versions)/versions/\(number)"
        #expect(await refused("207 Multi-Status", listing("\(place)/1", "")) == .failed)
        #expect(await refused("207 Multi-Status", listing("\(place)/1", size, "403 Forbidden")) == .failed)
        #expect(await refused("207 Multi-Status", listing("\(place)/1", size)) == nil)
        #expect(await refused("404 Not Found") == nil)
        #expect(try await provider.earlierVersions(of: "a").isEmpty)
    }

    @Test("A version that expired after it was listed is told as such, and nothing is left of it here")
    func expired() async throws {
        let (server, provider) = try await connected(History(.nextcloud))
        _ = try await write(["one", "two two"], "a", provider)
        let item = try #require(try await provider.earlierVersions(of: "a").first)
        server.with { $0.nodes["a"]?.kept = [] }
        let target = work.appending("target")
        let error = await #expect(throws: ProviderError.self) {
            try await provider.fetch("a", version: item.version, to: target) { _ in }
        }
        #expect(error?.code == .notFound && error?.description.contains("keeps that version of a no more") == true)
        #expect(Plain.read(target) == nil)
    }

    @Test("What arrives is compared with the checksum that the server tells with it")
    func checksums() async throws {
        let (server, provider) = try await connected(History(.infiniteScale))
        _ = try await write(["one", "two two"], "a", provider)
        let item = try #require(try await provider.earlierVersions(of: "a").first)
        let right = [
            "SHA1:fe05bcdcdc4928012781a5f1a2a77cbb5398e106", "MD5:F97C5D29941BFB1B2FDAB0874906AB82",
            "SHA256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
            "ADLER32:02910143 SHA1:fe05bcdcdc4928012781a5f1a2a77cbb5398e106", "ADLER32:00000000", "none",
        ]
        for checksum in right {
            server.with { $0.manners.history?.checksum = checksum }
            #expect(try await fetch(item, provider).text == "one", "\(checksum)")
        }
        let target = work.appending("target")
        for checksum in ["SHA1:0000", "MD5:f97c5d29941bfb1b2fdab0874906ab83"] {
            server.with { $0.manners.history?.checksum = checksum }
            #expect(
                await refusal { try await provider.fetch("a", version: item.version, to: target) { _ in } } == .corrupt)
            #expect(Plain.read(target) == nil)
        }
    }

    @Test("A version's name is read back as it was written; other names are of none")
    func names() throws {
        for (document, name) in [("12", "1561410426"), ("a$b!c", "x.REV.2026-01-31T08:05:09.5Z"), ("ü", "%2F")] {
            let revision = DAVRevision(of: try #require(FileName(document)), try #require(FileName(name)))
            #expect(DAVRevision(revision.version) == revision)
            #expect(!revision.version.rawValue.contains { "$! ;&'\"".contains($0) })
        }
        for text in ["e-x", "version=", "version=1", "version=1/", "version=1/2/3", "version=../1", "version=1/%2E%2E"]
        {
            #expect(DAVRevision(ProviderVersion(text)) == nil, "\(text)")
        }
        #expect(DAVRevision(of: "1", "1561410426").time?.seconds == 1_561_410_426)
        #expect(DAVRevision(of: "1", "x1").time == nil && DAVRevision(of: "1", "999999999999").time == nil)
    }

    @Test("A user's name and place are read from the address that the server tells")
    func principals() {
        let told = DAVPrincipal(href: " http://elsewhere/next/remote.php/dav/principals/users/ann%2Fb%40c/\n")
        #expect(told?.root == "/next/remote.php/dav" && told?.user == "ann%2Fb%40c")
        #expect(DAVPrincipal(href: "/principals/users/ann")?.root == "")
        for href in ["", "/", "principals/users/ann", "/principals/ann/", "/users/ann", "/principals/users/"] {
            #expect(DAVPrincipal(href: href) == nil, "\(href)")
        }
    }

    // MARK: - over HTTP, at sabre/dav with what Nextcloud and ownCloud have beside it

    private static let isRunning = TestServer.started["revisions"] != nil

    /// A drive two directories down in an account, by another address of the server.
    private func drive(_ form: String, _ files: String) async throws -> (TestServer.Account, WebDAVProvider) {
        var account = try await TestServer.account("revisions")
        let collection = try #require(account.base.split(separator: "/").last)
        account.base = "\(form)/remote.php/\(files)/\(collection)"
        for name in ["dav", "two%20words"] {
            account.base += "/\(name)"
            let made = try await account.transport().send(HTTPRequest("MKCOL", "\(account.base)/"))
            try #require(made.status == 201)
        }
        let provider = account.provider()
        _ = try await provider.connect(expected: nil)
        return (account, provider)
    }

    @Test(
        "At each address of a server versions are found, follow a document, and expire", .enabled(if: isRunning),
        arguments: ["", "/owncloud"], ["dav/files/quire%40example", "webdav"])
    func addresses(form: String, files: String) async throws {
        let (account, provider) = try await drive(form, files)
        #expect(provider.capabilities.earlierVersions)
        let texts = ["one", "two two", "three"]
        let items = try await write(texts, "a b", provider)
        _ = try await provider.createDirectory("d", attributes: Bench.attributes(0o755))
        let moved = try await provider.move("a b", to: "d/é", expecting: items.last?.version)
        let earlier = try await provider.earlierVersions(of: "d/é")
        #expect(
            earlier.map(\.size.bytes) == [7, 3] && earlier.first?.mtime ?? .unknown > earlier.last?.mtime ?? .unknown)
        for (item, text) in zip(earlier, ["two two", "one"]) {
            let fetched = try await fetch(item, provider)
            #expect(fetched.text == text && fetched.item.mtime == item.mtime && fetched.item.size == item.size)
        }
        #expect(try await fetch(moved, provider).text == "three")
        #expect(try await provider.earlierVersions(of: "d").isEmpty)
        let last = try #require(earlier.last)
        let revision = try #require(DAVRevision(last.version))
        Shell.run("rm", "\(account.directory.path)/../../versions/\(revision.document)/\(revision.name)")
        #expect(await refusal { try await fetch(last, provider) } == .notFound)
        #expect(try await provider.earlierVersions(of: "d/é").map(\.size.bytes) == [7])
        withExtendedLifetime(account) {}
    }

    @Test(
        "A server whose app for versions is switched off is a drive without", .enabled(if: isRunning),
        arguments: ["dav/files/quire%40example", "webdav"])
    func switchedOff(files: String) async throws {
        let (account, provider) = try await drive("/plain", files)
        #expect(!provider.capabilities.earlierVersions)
        #expect(await refusal { try await provider.earlierVersions(of: "a") } == .unsupported)
        withExtendedLifetime(account) {}
    }
}
