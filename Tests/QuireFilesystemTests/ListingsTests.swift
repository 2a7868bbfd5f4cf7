import Glibc
import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("Listings in progress")
struct ListingsTests {
    @Test("Who goes on gets the stream that stopped there, and nobody else gets it meanwhile")
    func goingOn() throws {
        let store = try TestStore()
        let root = store.driver.table.root
        let listings = Listings()
        let stream = try stream(of: root, store, at: 7)
        listings.keep(stream)
        #expect(listings.take(root, at: 8) == nil)
        #expect(listings.take(root, at: 7) === stream)
        #expect(listings.take(root, at: 7) == nil)
    }

    @Test("A directory's stream is not another's that stopped at the same place")
    func directories() throws {
        let store = try TestStore()
        try store.makeDirectory("a")
        let a = try store.lookUp("a")
        let listings = Listings()
        listings.keep(try stream(of: store.driver.table.root, store, at: 7))
        #expect(listings.take(a, at: 7) == nil)
    }

    @Test("Listings that nobody goes on with take few descriptors: the oldest are closed")
    func oldest() throws {
        let store = try TestStore()
        let root = store.driver.table.root
        let listings = Listings()
        for position in 1...Listings.limit + 5 { listings.keep(try stream(of: root, store, at: position)) }
        let left = (1...Listings.limit + 5).filter { listings.take(root, at: $0) != nil }
        #expect(left == Array(6...Listings.limit + 5))
    }

    private func stream(of node: Node, _ store: TestStore, at position: Int) throws -> DirectoryStream {
        let stream = try DirectoryStream(node, try store.driver.resolver.directory(node))
        stream.position = position
        return stream
    }
}
