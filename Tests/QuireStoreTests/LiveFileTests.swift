import Glibc
import QuireCore
import Testing

@testable import QuireStore

@Suite("A file that is sent without a copy") struct LiveFileTests {
    let directory: TemporaryDirectory
    var tree: DriveTree { directory.tree }

    init() throws { directory = try TemporaryDirectory() }

    private func open(_ path: RelativePath) throws(StoreError) -> LiveFile? {
        try LiveFile.open(tree, path, now: later)
    }

    @Test("is the same as long as nobody changes it, and is read by its path whatever becomes of its name")
    func steady() throws {
        let status = try directory.write("content", to: "doc")
        let file = try #require(try open("doc"))
        #expect(file.isUnchanged && file.fingerprint == status.fingerprint)
        try tree.remove("doc")
        let again = try OwnedDescriptor.open(file.path, O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(read(again.rawValue, &bytes, 16) == 7 && bytes.prefix(7) == Array("content".utf8)[...])
        #expect(!file.isUnchanged)
    }

    /// What makes it another state.
    enum Change: CaseIterable { case write, sameBytes, truncate, mapping, replace, rename, attributes }

    @Test("is another after whatever was done to it", arguments: Change.allCases)
    func changed(change: Change) throws {
        try directory.write("content", to: "doc")
        let file = try #require(try open("doc"))
        #expect(file.isUnchanged)
        // Past the tick in which it was made: times of files are no finer.
        usleep(20_000)
        switch change {
        case .write, .sameBytes:
            let writer = try tree.open("doc", O_RDWR)
            #expect(pwrite(writer.rawValue, change == .write ? "x" : "c", 1, 0) == 1)
        case .truncate:
            let writer = try tree.open("doc", O_RDWR)
            #expect(ftruncate(writer.rawValue, 3) == 0)
        case .mapping:
            let writer = try tree.open("doc", O_RDWR)
            let memory = try #require(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer.rawValue, 0))
            defer { munmap(memory, 4096) }
            memory.storeBytes(of: 0x78, as: UInt8.self)
        case .replace:
            try directory.write("content", to: "other")
            #expect(Glibc.rename("\(directory.home.storePath)/other", "\(directory.home.storePath)/doc") == 0)
        case .rename: #expect(Glibc.rename("\(directory.home.storePath)/doc", "\(directory.home.storePath)/other") == 0)
        case .attributes: #expect(chmod("\(directory.home.storePath)/doc", 0o600) == 0)
        }
        #expect(!file.isUnchanged)
    }

    @Test("is not taken while somebody can write to it, also through a mapping alone")
    func writers() throws {
        try directory.write("content", to: "doc")
        do {
            let writer = try tree.open("doc", O_RDWR)
            #expect(try open("doc") == nil)
            let memory = try #require(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer.rawValue, 0))
            close(writer.release())
            #expect(try open("doc") == nil)
            munmap(memory, 4096)
        }
        #expect(try open("doc") != nil)
    }

    @Test("is not taken of what was written a moment ago, and of what has no content of its own")
    func unfit() throws {
        let status = try directory.write("content", to: "doc")
        let error = #expect(throws: StoreError.self) { _ = try LiveFile.open(tree, "doc", now: { status.mtime }) }
        #expect(error?.code == .tooFresh)
        try tree.createDirectory("directory")
        try tree.createLink("link", target: Array("doc".utf8))
        #expect(try open("directory") == nil && open("link") == nil)
    }
}

extension SnapshotTests {
    private func small(
        _ path: RelativePath, limit: Int64 = 100, whenRead: () -> Void = {}
    ) throws(StoreError) -> Snapshot? {
        try Snapshot.takeSmall(tree, path, limit: ByteCount(limit), now: later, whenRead: whenRead)
    }

    @Test("of a small file is in memory", arguments: [0, 1, 100])
    func inMemory(size: Int) throws {
        let text = String(repeating: "x", count: size)
        let status = try directory.write(text, to: "doc")
        let snapshot = try #require(try small("doc"))
        #expect(snapshot.content == .bytes(Array(text.utf8)) && snapshot.status == status)
        #expect(snapshot.checksum == ContentHasher.checksum(of: Array(text.utf8)))
        #expect(snapshot.size.bytes == Int64(size))
    }

    @Test("of what is larger, and of a link, is not in memory")
    func notInMemory() throws {
        try directory.write(String(repeating: "x", count: 101), to: "doc")
        try tree.createLink("link", target: Array("doc".utf8))
        #expect(try small("doc") == nil && small("link") == nil)
    }

    @Test("of a small file that is changed or replaced meanwhile is none", arguments: [true, false])
    func smallChanged(replaces: Bool) throws {
        try directory.write("content", to: "doc")
        let error = #expect(throws: StoreError.self) {
            _ = try small("doc") {
                usleep(20_000)
                _ = try? directory.write("changed", to: replaces ? "other" : "doc")
                if replaces { Glibc.rename("\(directory.home.storePath)/other", "\(directory.home.storePath)/doc") }
            }
        }
        #expect(error?.code == .changed)
    }
}
