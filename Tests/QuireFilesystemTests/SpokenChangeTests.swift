import Glibc
import QuireCore
import QuireStore
import Testing

@testable import QuireFilesystem

@Suite("A remote change that a call on the mount makes")
struct SpokenChangeTests {
    private func change(_ operation: LocalChange.Operation, at path: RelativePath = "d/doc") -> LocalChange {
        LocalChange(path: path, operation, expecting: .absent, base: nil)
    }

    private func spoken(_ change: LocalChange, to destination: SpokenChange.Place? = nil) -> SpokenChange {
        SpokenChange(
            change, at: .init(directory: 7, name: "doc"), to: destination, token: MountVoice.makeToken())
    }

    @Test("Once it is void nobody makes it")
    func void() {
        let spoken = spoken(change(.install(stagedPath: "/staged", dataless: false)))
        #expect(spoken.end().made == nil)
        #expect(!spoken.claim())
    }

    @Test("It is made by one call at the most")
    func once() throws {
        let spoken = spoken(change(.install(stagedPath: "/staged", dataless: false)))
        #expect(spoken.claim())
        #expect(!spoken.claim())
        spoken.finish(.success(MadeChange(outcome: .stale)))
        #expect(try spoken.end().made?.get().outcome == .stale)
    }

    @Test("Who gives it up while it is being made waits for what becomes of it")
    func waitsForTheCall() throws {
        for _ in 0..<200 {
            let spoken = spoken(change(.remove))
            let thread = OwnedThread(name: "call") {
                if spoken.claim() { spoken.finish(.success(MadeChange(outcome: .busy))) }
            }
            let made = try spoken.end().made?.get()
            thread?.join()
            // Either the call came first, and its result is known, or it does nothing.
            #expect(made == nil || made?.outcome == .busy)
            #expect(!spoken.claim())
        }
    }

    @Test("A call is meant by what it names alone")
    func meaning() throws {
        let store = try TestStore()
        try store.makeDirectory("d")
        let (root, directory) = (store.driver.table.root, try store.lookUp("d"))
        func inode(_ node: Node) -> UInt64 { node === directory ? 7 : 1 }
        let install = spoken(change(.install(stagedPath: "/staged", dataless: false)))
        let place = Entry(directory: directory, name: "doc")
        #expect(install.isMeant(by: .rename(Entry(directory: directory, name: install.token), place), inode))
        for (source, target) in [
            (Entry(directory: directory, name: "other"), place), (Entry(directory: root, name: install.token), place),
            (Entry(directory: directory, name: install.token), Entry(directory: root, name: "doc")),
            (Entry(directory: directory, name: install.token), Entry(directory: directory, name: "x")),
        ] {
            #expect(!install.isMeant(by: .rename(source, target), inode))
        }
        #expect(!install.isMeant(by: .remove(place, isDirectory: false), inode))
        let made = spoken(change(.makeDirectory(mode: 0o755, mtime: .unknown)))
        #expect(made.isMeant(by: .makeDirectory(place), inode))
        #expect(!made.isMeant(by: .remove(place, isDirectory: true), inode))
        let moved = spoken(change(.move(to: "new")), to: .init(directory: 1, name: "new"))
        #expect(moved.isMeant(by: .rename(place, Entry(directory: root, name: "new")), inode))
        #expect(!moved.isMeant(by: .rename(place, Entry(directory: directory, name: "new")), inode))
    }

    @Test("A removal is of a file or of a directory, and a call for the other is none")
    func removal() throws {
        let store = try TestStore()
        try store.makeDirectory("d")
        let directory = try store.lookUp("d")
        for path in ["file", "directory"] {
            path == "file" ? try store.write(path, "x") : try store.makeDirectory(path)
            let status = try store.status(RelativePath([FileName(unchecked: Array(path.utf8))]))
            let spoken = spoken(
                LocalChange(path: "d/doc", .remove, expecting: .fingerprint(status.fingerprint), base: nil))
            for isDirectory in [true, false] {
                let call = NameCall.remove(Entry(directory: directory, name: "doc"), isDirectory: isDirectory)
                #expect(spoken.isMeant(by: call) { _ in 7 } == (isDirectory == (path == "directory")))
            }
        }
    }

    @Test("Calls come through the channel as they went in")
    func messages() throws {
        let odd = FileName(unchecked: [0xFF, 0x0A, 0x20])
        for call: VoiceCall in [
            .greet("x"), .rename(.root, "a", to: "d/e", odd), .rename("d", odd, to: .root, "b"),
            .remove("d", "a", isDirectory: true), .remove(.root, odd, isDirectory: false), .makeDirectory(.root, "d"),
        ] {
            let message = try #require(call.message)
            #expect(VoiceCall(message[...]) == call)
            #expect(VoiceCall(message.dropLast()) != call)
        }
        let deep = RelativePath(Array(repeating: FileName(unchecked: [0x61]), count: 9000))
        #expect(VoiceCall.makeDirectory(deep, "d").message == nil)
        #expect(VoiceCall([]) == nil)
        #expect(VoiceCall(Array("z\0".utf8)[...]) == nil)
    }

    @Test("Tokens are hidden, look like backups, and are all different")
    func tokens() {
        let tokens = (0..<1000).map { _ in MountVoice.makeToken() }
        #expect(Set(tokens).count == 1000)
        for token in tokens {
            #expect(token.bytes.first == UInt8(ascii: ".") && token.bytes.last == UInt8(ascii: "~"))
            #expect(MountVoice.isToken(token))
        }
        #expect(!MountVoice.isToken("letter.txt"))
    }

    @Test("What the kernel keeps locked for a request is read from it")
    func lockedNodes() {
        func locked(_ opcode: UInt32, _ words: [UInt64] = []) -> LockedNodes {
            var bytes =
                [UInt8](repeating: 0, count: 40) + words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } }
            withUnsafeBytes(of: opcode) { bytes.replaceSubrange(4..<8, with: $0) }
            withUnsafeBytes(of: UInt64(5)) { bytes.replaceSubrange(16..<24, with: $0) }
            return bytes.withUnsafeBytes { LockedNodes(RequestHeader($0), $0) }
        }
        // LOOKUP, CREATE, SETATTR; READ, GETATTR; RENAME2, LINK, COPY_FILE_RANGE.
        for opcode: UInt32 in [1, 35, 4] { #expect(locked(opcode) == LockedNodes(first: 5, second: 0)) }
        for opcode: UInt32 in [15, 3] { #expect(locked(opcode) == LockedNodes()) }
        for opcode: UInt32 in [45, 13] { #expect(locked(opcode, [9]) == LockedNodes(first: 5, second: 9)) }
        #expect(locked(47, [1, 2, 9]) == LockedNodes(first: 5, second: 9))
        // OPEN keeps one only where it empties the file.
        #expect(locked(14, [UInt64(O_RDWR)]) == LockedNodes())
        #expect(locked(14, [UInt64(O_RDWR | O_TRUNC)]) == LockedNodes(first: 5, second: 0))
    }
}
