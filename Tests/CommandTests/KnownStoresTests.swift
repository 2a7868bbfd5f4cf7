import Glibc
import QuireCore
import Testing

@testable import QuireMain

@Suite("Known stores")
struct KnownStoresTests {
    private let directory: TemporaryDirectory
    private let stores: KnownStores

    init() throws {
        directory = try TemporaryDirectory()
        stores = KnownStores(home: directory.path)
    }

    @Test("A store is known by its URL, whatever is in that, until it is forgotten")
    func byURL() throws {
        let urls = [
            "folder:/a", "folder:/a/", "folder:/\n \"b\"", "webdav+https://u@h/\(String(repeating: "x", count: 5000))",
        ]
        for (number, url) in urls.enumerated() {
            #expect(try stores.identity(at: url) == nil)
            try stores.note("id \(number)\n", at: url)
        }
        #expect(try urls.map(stores.identity) == (0..<4).map { "id \($0)\n" })
        try stores.note("other", at: urls[1])
        try stores.forget(urls[0])
        try stores.forget("folder:/never")
        #expect(try urls.map(stores.identity) == [nil, "other", "id 2\n", "id 3\n"])
    }

    @Test("What the configuration says of a store counts before what is known")
    func given() throws {
        try stores.note("known", at: "folder:/a")
        #expect(try KnownStore(stores: stores, url: "folder:/a", given: "given").known() == "given")
        #expect(try KnownStore(stores: stores, url: "folder:/a", given: nil).known() == "known")
    }

    @Test("A file that cannot be understood is no store that is not known yet", arguments: ["", "{}", "newer"])
    func damage(text: String) throws {
        try stores.note("known", at: "folder:/a")
        let names = try #require(opendir("\(directory.path)/stores"))
        defer { closedir(names) }
        var name = ""
        while let entry = readdir(names) {
            let found = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if found.hasSuffix(".json") { name = found }
        }
        let newer = "{\"format\":2,\"identity\":\"known\",\"url\":\"folder:/a\"}\n"
        try directory.write("stores/\(name)", text == "newer" ? newer : text)
        do {
            _ = try stores.identity(at: "folder:/a")
            Issue.record("read")
        } catch {
            #expect(error.code == .unavailable && error.message.contains(name), "\(error)")
        }
    }
}
