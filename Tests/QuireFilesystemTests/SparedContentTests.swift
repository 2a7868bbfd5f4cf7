import CFuse
import Glibc
import QuireCore
import QuireStore
import Testing

@testable import QuireFilesystem

@Suite("What is copied of a document before a program that has missed it empties it")
struct SparedContentTests {
    private let program: pid_t = 7

    /// A document that the program has read, and others have written to since; long ago.
    private func missedDocument(_ store: TestStore) throws -> Node {
        try store.write("doc", "begin")
        let node = try store.lookUp("doc")
        let place = SeenContents.Place(try store.driver.tree.requiredStatus(at: .root).inode, "doc")
        store.driver.seen.begin()
        store.driver.seen.noteSight(of: place, try store.driver.resolver.status(node), by: program)
        try change(store, "theirs")
        store.driver.seen.noteChange(at: place)
        return node
    }

    private func change(_ store: TestStore, _ text: String) throws {
        try store.write("doc", text)
        // Its time of change is now all the same: the fingerprint is racy for a moment.
        while try store.status("doc").fingerprint.isRacy(takenAt: WallClock.now()) { sched_yield() }
    }

    /// The texts in the drive but for the document's.
    private func kept(_ store: TestStore) throws -> [String] {
        try store.driver.tree.list(.root).filter { $0.name != "doc" }.map {
            let file = try store.driver.tree.openForReading(RelativePath.root.appending($0.name))
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = buffer.withUnsafeMutableBytes { pread(file.rawValue, $0.baseAddress, $0.count, 0) }
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }

    @Test("is asked for once, has no name, and gets one as the version that is kept")
    func copied() throws {
        let store = try TestStore()
        let (driver, node) = (store.driver, try missedDocument(store))
        let status = try driver.resolver.status(node)
        #expect(try driver.mustPrepare(emptying: node, status, nil, by: program, .untried, isDataless: false))
        let spared = try driver.spare(beforeEmptying: node, nil, by: program)
        guard case .copy = spared else { return #expect(Bool(false), "\(spared)") }
        #expect(try kept(store).isEmpty)
        #expect(try !driver.mustPrepare(emptying: node, status, nil, by: program, spared, isDataless: false))
        #expect(try driver.mustPrepare(emptying: node, status, nil, by: program, spared, isDataless: true))
        _ = try driver.keepMissed(beforeEmptying: node, status, nil, by: program, spared)
        #expect(try kept(store) == ["theirs"])
    }

    @Test("is copied anew where the document has changed since")
    func changed() throws {
        let store = try TestStore()
        let (driver, node) = (store.driver, try missedDocument(store))
        let spared = try driver.spare(beforeEmptying: node, nil, by: program)
        try change(store, "theirs, too")
        let status = try driver.resolver.status(node)
        _ = try driver.keepMissed(beforeEmptying: node, status, nil, by: program, spared)
        #expect(try kept(store) == ["theirs, too"])
    }

    @Test("is nothing where the program has read the document")
    func read() throws {
        let store = try TestStore()
        try store.write("doc", "begin")
        let node = try store.lookUp("doc")
        store.driver.seen.begin()
        let spared = try store.driver.spare(beforeEmptying: node, nil, by: program)
        guard case .nothing = spared else { return #expect(Bool(false), "\(spared)") }
        let status = try store.driver.resolver.status(node)
        #expect(try !store.driver.mustPrepare(emptying: node, status, nil, by: program, .untried, isDataless: false))
    }
}
