import ArgumentParser
import QuireCommandLine
import QuireCore
import Testing

@testable import QuireMain

@Suite("Arguments")
struct ArgumentTests {
    @Test("Bytes that are not UTF-8 survive the way through text")
    func bytes() {
        let samples: [[UInt8]] = [
            Array("plain é 𝄞".utf8), [0xFF], [0x61, 0xC3], [0xE2, 0x82], Array("\u{10FFFF}\u{10FF80}".utf8),
            [0xED, 0xA0, 0x80], Array(0x80...0xFF),
        ]
        for sample in samples { #expect(ArgumentBytes.bytes(ArgumentBytes.text(sample)) == sample) }
        #expect(ArgumentBytes.text(Array("é".utf8)) == "é")
    }

    /// Where the name is left away, it is made of the type's: each start then searches the program's conformances for
    /// each of the commands, which takes longer than all the rest of `quire find`.
    @Test("Every subcommand accepts --home, has a name, an abstract and a discussion")
    func subcommands() throws {
        func visit(_ command: any ParsableCommand.Type) {
            let configuration = command.configuration
            #expect(configuration.commandName != nil, "\(command)")
            #expect(!configuration.abstract.isEmpty, "\(command)")
            #expect(!configuration.discussion.isEmpty, "\(command)")
            configuration.subcommands.forEach(visit)
        }
        visit(QuireCommand.self)
        let command = try QuireCommand.parseAsRoot(["provider", "add", "n", "folder:/p", "--default", "--home", "/h"])
        let add = try #require(command as? Provider.Add)
        #expect(add.home.path == "/h")
        #expect(add.isDefault)
    }

    @Test("find takes names and states in mdfind's and in GNU's shape")
    func find() throws {
        let command = try QuireCommand.parseAsRoot(
            ["find", "-name", "*.txt", "--state", "dirty", "--state", "local-only", "-onlyin", "a", "--count", "-0"])
        let find = try #require(command as? Find)
        #expect(find.name == "*.txt")
        #expect(find.states == [.dirty, .localOnly])
        #expect(find.directory == "a")
        #expect(find.count && find.null && !find.json)
    }

    @Test("An expression is a pattern for the name, or a condition")
    func expressions() throws {
        #expect(try FindExpression.split("*.txt", name: nil) == ("*.txt", nil))
        #expect(try FindExpression.split("size > 3", name: "a*") == ("a*", "size > 3"))
        #expect(try FindExpression.split(" ", name: nil) == (nil, nil))
        #expect(try FindExpression.split(nil, name: "b") == ("b", nil))
        #expect(throws: QuireError.self) { _ = try FindExpression.split("*.txt", name: "a") }
    }

    @Test("Mount options")
    func mountOptions() throws {
        let request = try MountRequest(["allow_other,readers=2", "debug,nopassthrough"])
        #expect(try request.indexes && !MountRequest(["debug_noindex"]).indexes)
        #expect(request.allowOther && request.debug && !request.passthrough && request.readers == 2)
        for wrong in ["readers=0", "readers=x", "frobnicate"] {
            #expect(throws: QuireError.self) { _ = try MountRequest([wrong]) }
        }
    }

    @Test("resolve keeps several versions")
    func resolve() throws {
        let command = try QuireCommand.parseAsRoot(["resolve", "a.txt", "--keep", "current", "laptop"])
        #expect(try #require(command as? Resolve).keep == ["current", "laptop"])
    }
}

@Suite("Paths")
struct DrivePathTests {
    private let paths = DrivePaths(
        mountpoint: "/m/Drive", store: "/h/drive", workingDirectory: "/tmp",
        resolve: { $0 == "/link" ? "/m/Drive/real" : nil })

    @Test("A path is on the mount, in the store, or below the drive's root")
    func forms() throws {
        #expect(try paths.path("/m/Drive/a//b/./c") == "a/b/c")
        #expect(try paths.path("/m/Drive") == .root)
        #expect(try paths.path("/m/Drive/a/../b/") == "b")
        #expect(try paths.path("/h/drive/x") == "x")
        #expect(try paths.path("a/b") == "a/b")
        #expect(try paths.path(".") == .root)
        #expect(try paths.path("/link/doc") == "real/doc")
        let above = DrivePaths(mountpoint: "/m/Drive", store: "/s", workingDirectory: "/m", resolve: { _ in nil })
        #expect(try above.path("Drive/a") == "a")
        #expect(try above.path("other/a") == "other/a")
    }

    @Test("A relative path starts at the current directory when that is on the drive")
    func workingDirectory() throws {
        let inside = DrivePaths(mountpoint: "/m", store: "/s", workingDirectory: "/m/sub", resolve: { _ in nil })
        #expect(try inside.path("a") == "sub/a")
        #expect(try inside.path("../a") == "a")
        #expect(inside.workingPath == "sub")
        #expect(throws: QuireError.self) { _ = try inside.path("../../a") }
    }

    @Test("A path elsewhere is a usage error")
    func elsewhere() {
        for path in ["/etc/passwd", "/m/DriveX/a", "../a"] {
            do {
                _ = try paths.path(path)
                Issue.record("accepted \(path)")
            } catch {
                #expect(error.code == .usage)
            }
        }
    }

    @Test("Bytes that are not UTF-8 are meant as they are")
    func rawBytes() throws {
        let path = try paths.path(ArgumentBytes.text(Array("/m/Drive/".utf8) + [0xFF, 0x61]))
        #expect(path.bytes == [0xFF, 0x61])
    }
}
