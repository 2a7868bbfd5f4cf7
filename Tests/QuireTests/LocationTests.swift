import Foundation
import QuireCore
import Testing

@testable import Quire

@Suite("Places of items")
struct LocationTests {
    @Test(
        "A file's URL has a path",
        arguments: [
            ("file:///a/b%20c", "/a/b c"), ("file:///a/%C3%A4", "/a/ä"), ("file:///a/b/", "/a/b"),
        ])
    func paths(url: String, path: String) throws {
        let url = try #require(URL(string: url))
        let found = try ItemLocation.path(of: url)
        #expect(AbsolutePath.normalized(found, in: "/") == path)
    }

    @Test("What is no file, or not UTF-8, is refused", arguments: ["https://a/b", "file:///a/%ff", "file:///a%00b"])
    func refused(url: String) throws {
        let url = try #require(URL(string: url))
        let error = #expect(throws: QuireError.self) { try ItemLocation.path(of: url) }
        #expect(error?.code == .usage)
    }

    @Test("A name that is not UTF-8 is percent-encoded")
    func encoded() throws {
        let name = try #require(FileName([0x61, 0x20, 0xFF, 0x05]))
        #expect(MountPath("/m").url(RelativePath([name])).absoluteString == "file:///m/a%20%FF%05")
        #expect(MountPath("/m").url("a b").path == "/m/a b")
    }

    @Test("What does not exist has a place; directories on the way are resolved, the last name is not")
    func resolved() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let files = FileManager.default
        let root = daemon.mountpoint
        try files.createDirectory(at: root.appending(path: "dir"), withIntermediateDirectories: true)
        try files.createSymbolicLink(
            at: root.appending(path: "link"), withDestinationURL: root.appending(path: "dir"))
        for (below, wanted, follows) in [
            ("link/a", "dir/a", false), ("link", "link", false), ("link", "dir", true),
            ("no/such/a", "no/such/a", false),
            ("link/../x", "x", false), ("dir/.", "dir", false),
        ] {
            let url = URL(filePath: root.path + "/" + below)
            let location = try await ItemLocation.of(url, followsLink: follows)
            #expect(location.path.description == wanted, "\(below)")
        }
    }
}
