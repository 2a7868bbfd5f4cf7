import QuireCore
import Testing

@testable import QuireProviders

/// Servers that do not show all of a directory, or move a part of it.
@Suite("Directories of WebDAV servers")
struct DAVDirectoryTests {
    /// A provider of a server with a directory `d`, in which another program has written documents.
    private func account(
        _ manners: DAVStandIn.Manners, _ documents: [String]
    ) async throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let server = try DAVStandIn(manners)
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        server.with { state in
            state.makeCollection("d")
            for document in documents { state.write(document, "only copy") }
        }
        return (server, provider)
    }

    /// The same with an empty `d`, and another program that acts just before that is moved aside.
    private func account(
        _ manners: DAVStandIn.Manners = .init(),
        intruder: @escaping @Sendable (inout DAVStandIn.State, DAVStandInRequest) -> Void
    ) async throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let (server, provider) = try await account(manners, [])
        server.with { $0.intruder = (["MOVE"], "d", intruder) }
        return (server, provider)
    }

    /// A server that shows nothing of what was moved aside from `path`, in which another program wrote `late` at that moment;
    /// and the device that has tried to delete it.
    private func unseen(
        _ path: RelativePath = "d", _ manners: DAVStandIn.Manners = .init(),
        text: String = "only copy"
    ) async throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let server = try DAVStandIn(manners)
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        server.with { state in
            state.makeCollection(".quire/kept")
            var made = ""
            for name in "\(path)".split(separator: "/") {
                made += made.isEmpty ? "\(name)" : "/\(name)"
                state.makeCollection(made)
            }
            state.intruder = (
                ["MOVE"], "\(path)",
                { state, request in
                    state.write("\(path)/late", text)
                    let aside = DAVStandInRequest.path(request.fields["destination"] ?? "")
                    state.trouble = .init(status: "503 Service Unavailable", method: "PROPFIND", suffix: aside)
                }
            )
        }
        #expect(await refusal { try await provider.delete(path, expecting: nil) } == .unavailable)
        #expect(server.with { $0.nodes["\(path)"] } == nil)
        return (server, provider)
    }

    private func texts(_ server: DAVStandIn) -> [String: String] {
        let documents = server.with { $0.nodes.filter { !$0.value.isCollection } }
        return documents.mapValues { String(decoding: $0.content, as: UTF8.self) }
    }

    @Test("A directory that the server refuses to list is not taken for an empty one")
    func unlisted() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(unlisted: "d"), ["d/a"])
        #expect(await refusal { try await provider.delete("d", expecting: nil) } == .permissionDenied)
        #expect(server.with { $0.nodes["d/a"] } != nil)
    }

    @Test("Where names may be hidden, a directory that seems empty is put aside with all that is in it")
    func hidden() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(hidesDotNames: true), ["d/.a"])
        try await provider.delete("d", expecting: nil)
        let paths = server.with { Array($0.nodes.keys) }
        #expect(!paths.contains { $0.hasPrefix("d") })
        #expect(paths.contains { $0.hasPrefix(".quire/kept/") && $0.hasSuffix("/.a") }, "\(paths)")
        guard case .everything(let items, _) = try await provider.changes(since: nil) else {
            throw ProviderError(.failed, "not everything is listed")
        }
        #expect(items.isEmpty)
        #expect(try await DAVProbe.hidesDotNames(provider.client))
        _ = try await server.provider().connect(expected: nil)
        let kept = Set(paths.filter { $0.hasSuffix("/.a") })
        #expect(server.with { Set($0.nodes.keys.filter { $0.hasSuffix("/.a") }) } == kept)

        server.with { state in
            state.makeCollection("d")
            state.write("d/b", "shown")
        }
        #expect(await refusal { try await provider.delete("d", expecting: nil) } == .notEmpty)
    }

    @Test("What a server does not show in a directory that is deleted stays there for thirty days by its clock")
    func unshown() async throws {
        let manners = DAVStandIn.Manners(hidden: "secret", secondsPerWrite: 0.001, hasOwnTags: true)
        let (server, provider) = try await account(manners, ["d/secret"])
        let days = { (count: Double) in server.with { $0.seconds += count * 86_400 } }
        let kept = { self.texts(server).filter { $0.value == "only copy" }.map(\.key) }
        try await provider.delete("d", expecting: nil)
        #expect(server.with { $0.nodes["d"] } == nil)
        #expect(kept().allSatisfy { $0.hasPrefix(".quire/emptied/") && $0.contains("/d-") && $0.hasSuffix("/secret") })
        for _ in 0..<2 {
            #expect(kept().count == 1)
            _ = try await server.provider().connect(expected: nil)
            days(15)
        }
        // Another that is deleted then has its own time.
        server.with { state in
            state.makeCollection("d")
            state.write("d/secret", "only copy")
        }
        try await provider.delete("d", expecting: nil)
        days(2)
        _ = try await server.provider().connect(expected: nil)
        #expect(kept().count == 1)
        days(29)
        _ = try await server.provider().connect(expected: nil)
        #expect(kept().isEmpty)
        #expect(server.with { $0.nodes[".quire/emptied"]?.names } == [])
    }

    @Test("What shows in it by then stays; so does what a server without a clock has put away")
    func shown() async throws {
        let manners = DAVStandIn.Manners(hidden: "secret", secondsPerWrite: 0.001, hasOwnTags: true)
        let (server, provider) = try await account(manners, ["d/secret"])
        try await provider.delete("d", expecting: nil)
        server.with { state in
            state.manners.hidden = nil
            state.seconds += 40 * 86_400
        }
        _ = try await server.provider().connect(expected: nil)
        #expect(texts(server).values.contains("only copy"))

        let (clockless, other) = try await account(DAVStandIn.Manners(hidden: "secret"), ["d/secret"])
        try await other.delete("d", expecting: nil)
        #expect(clockless.with { $0.nodes[".quire/emptied"]?.names } == ["undated"])
    }

    @Test("Where the place of the day is gone, it is made again")
    func placeGone() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(hidden: "secret"), ["d/secret"])
        try await provider.delete("d", expecting: nil)
        server.with { state in
            state.remove(".quire/emptied")
            state.makeCollection("d")
            state.write("d/secret", "only copy")
        }
        try await provider.delete("d", expecting: nil)
        #expect(texts(server).values.filter { $0 == "only copy" }.count == 1)
        #expect(server.with { $0.nodes[".quire/kept"]?.names } == [])
    }

    @Test(
        "What a server does not show, or cannot follow, is there after its directory was deleted",
        arguments: ProviderForm.servers.filter { TestServer.started[$0.rawValue] != nil })
    func symlink(form: ProviderForm) async throws {
        let bench = try await form.open()
        try await bench.directory("d")
        Shell.run("ln", "-s", "/nowhere/at/all", bench.file("d/link"))
        // Some show it, and some refuse to list the directory.
        let refused = await refusal { try await bench.provider.delete("d", expecting: nil) }
        let isThere = Shell.run("sh", "-c", "find '\(bench.file(""))' -type l -name link | grep -q .") == 0
        #expect(isThere, "\(refused?.rawValue ?? "removed")")
    }

    @Test("Where all names are shown, an empty directory is removed, with five requests", arguments: [true, false])
    func shown(hasPlace: Bool) async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(), [])
        if !hasPlace { server.with { _ = $0.remove(".quire/kept") } }
        // The first makes the place of the day.
        server.with { _ = $0.makeCollection("e") }
        try await provider.delete("e", expecting: nil)
        _ = server.takeLog()
        try await provider.delete("d", expecting: nil)
        let methods = server.takeLog().map { $0.prefix { $0 != " " } }
        #expect(methods == ["PROPFIND", "PROPFIND", "MOVE", "PROPFIND", "MOVE"], "\(methods)")
        #expect(server.with { Set($0.nodes.keys.filter { !$0.hasPrefix(".quire/") }) } == ["", ".quire"])
        #expect(server.with { $0.nodes[".quire/kept"]?.names } == [])
        #expect(try await !DAVProbe.hidesDotNames(provider.client))
    }

    @Test("What is written into a directory at the moment when it is removed stays")
    func written() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(), [])
        server.with { $0.intruder = (["DELETE", "MOVE"], "d", { state, _ in state.write("d/late", "only copy") }) }
        #expect(await refusal { try await provider.delete("d", expecting: nil) } == .notEmpty)
        #expect(server.with { $0.nodes["d/late"] } != nil)
        #expect(server.with { $0.nodes[".quire/kept"]?.names } == [])
    }

    @Test("Where it was made again meanwhile, what was written joins what is there")
    func madeAgain() async throws {
        let (server, provider) = try await account { state, request in
            state.write("d/late", "one")
            state.write("d/same", "two")
            let aside = DAVStandInRequest.path(request.fields["destination"] ?? "")
            state.intruder = (
                ["PROPFIND"], aside,
                { state, _ in
                    state.makeCollection("d")
                    state.write("d/same", "three")
                }
            )
        }
        do {
            try await provider.delete("d", expecting: nil)
            Issue.record("it was removed")
        } catch {
            #expect(error.code == .failed && "\(error)".contains(".quire/kept/removed-"), "\(error)")
        }
        let texts = server.with { $0.nodes.mapValues { String(decoding: $0.content, as: UTF8.self) } }
        #expect(texts["d/late"] == "one" && texts["d/same"] == "three")
        #expect(texts.contains { $0.key.hasPrefix(".quire/kept/") && $0.key.hasSuffix("/same") && $0.value == "two" })
    }

    @Test("A removal that the server did without saying so is one, and what came meanwhile is put back")
    func unsaid() async throws {
        for isLate in [false, true] {
            let (server, provider) = try await account { state, request in
                if isLate { state.write("d/late", "only copy") }
                state.move("d", to: DAVStandInRequest.path(request.fields["destination"] ?? ""))
            }
            let refused = await refusal { try await provider.delete("d", expecting: nil) }
            #expect(refused == (isLate ? .notEmpty : nil))
            #expect(server.with { $0.nodes["d/late"] != nil } == isLate)
            #expect(server.with { $0.nodes[".quire/kept"]?.names } == [])
        }
    }

    @Test("A directory that was moved aside and cannot be seen there is not forgotten", arguments: [true, false])
    func unseen(isDeletedAgain: Bool) async throws {
        let (server, provider) = try await unseen()
        #expect(await refusal { try await provider.delete("d", expecting: nil) } == .unavailable)
        server.with { $0.trouble = nil }
        if isDeletedAgain {
            #expect(await refusal { try await provider.delete("d", expecting: nil) } == .notEmpty)
        } else {
            guard case .everything(let items, _) = try await provider.changes(since: nil) else {
                throw ProviderError(.failed, "not everything is listed")
            }
            #expect(Set(items.map(\.path)) == ["d", "d/late"])
        }
        #expect(texts(server)["d/late"] == "only copy")
        #expect(server.with { $0.nodes[".quire/kept"]?.names } == [])
    }

    @Test("What was put back is seen by devices that do not list everything each time")
    func told() async throws {
        let (server, provider) = try await unseen()
        let other = server.provider()
        guard
            case .everything(_, let others) = try await { () async throws(ProviderError) in
                _ = try await other.connect(expected: nil)
                return try await other.changes(since: nil)
            }(), case .everything(_, let own) = try await provider.changes(since: nil)
        else {
            throw ProviderError(.failed, "not everything is listed")
        }
        server.with { $0.trouble = nil }
        for (device, cursor) in [(provider, own), (other, others)] {
            guard case .everything(let items, _) = try await device.changes(since: cursor) else {
                Issue.record("not everything is listed")
                continue
            }
            #expect(items.contains { $0.path == "d/late" })
        }
    }

    @Test(
        "What a device that was killed left aside is put back by the next one that connects",
        arguments: [
            "d", "a/b=c/d-e", "a/\(String(repeating: "x", count: 200))/\(String(repeating: "\u{e4}", count: 100))/d",
            String(repeating: "\u{e4}", count: 120),
        ], [true, false])
    func killed(text: String, isParentThere: Bool) async throws {
        let path = try #require(RelativePath(parsing: text))
        let (server, _) = try await unseen(path)
        server.with { state in
            state.trouble = nil
            if !isParentThere, let parent = path.parent, !parent.isRoot { state.remove("\(parent)") }
        }
        _ = try await server.provider().connect(expected: nil)
        let late = texts(server).filter { $0.value == "only copy" }.map(\.key)
        #expect(late.count == 1)
        if text.utf8.count < 100 {
            #expect(late == ["\(path)/late"])
        } else {
            // Where the path is too long for a name, its end.
            #expect(late.allSatisfy { !$0.hasPrefix(".quire") }, "\(late)")
        }
        #expect(server.with { $0.nodes[".quire/kept"]?.names } == [])
    }

    @Test(
        "What comes back takes no name from what is there by then, and waits for who changes that",
        arguments: [true, false])
    func takenAgain(locks: Bool) async throws {
        let (server, provider) = try await unseen("d", .init(locks: locks))
        server.with { state in
            state.trouble = nil
            state.makeCollection("d")
            state.write("d/late", "another")
        }
        _ = server.takeLog()
        _ = try await server.provider().connect(expected: nil)
        let log = server.takeLog()
        #expect(texts(server)["d/late"] == "another")
        #expect(texts(server).contains { $0.key.hasPrefix(".quire/kept/") && $0.value == "only copy" })
        let name = try #require(DAVLayout.lockNames(["d/late"]).first)
        let moved = try #require(log.lastIndex { $0.hasPrefix("MOVE .quire/kept/") && $0.hasSuffix("/late") })
        #expect(!locks || log[..<moved].last { $0.hasPrefix("LOCK ") } == "LOCK \(name)")
        #expect(!locks || log[moved...].contains("UNLOCK \(name)"))
        _ = provider
    }

    @Test("A directory of which a part could be moved was not moved")
    func unmoved() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(unmoved: "b"), ["d/a", "d/b"])
        do {
            _ = try await provider.move("d", to: "e", expecting: nil)
            Issue.record("it was moved")
        } catch {
            #expect(error.code == .failed && "\(error)".contains("403") && "\(error)".contains("d/b"), "\(error)")
        }
        #expect(server.with { $0.nodes["d/b"] } != nil)
    }
}
