import Glibc
import QuireCore
import QuireIndex
import QuireSync
import QuireTransport
import Testing

@testable import QuireMain

@Suite("Output")
struct OutputTests {
    @Test(
        "Manifest lines are escaped as sha256sum does",
        arguments: [
            ("a b", "  a b\n", false), ("a\\b", "  a\\\\b\n", true), ("a\nb", "  a\\nb\n", true),
            ("a\rb", "  a\\rb\n", true),
            ("é", "  é\n", false),
        ])
    func manifest(name: String, tail: String, isEscaped: Bool) throws {
        let checksum = try #require(ContentChecksum(bytes: [UInt8](repeating: 0xAB, count: 32)))
        let line = String(decoding: ManifestLine.bytes(checksum, path: Array(name.utf8)), as: UTF8.self)
        #expect(line == (isEscaped ? "\\" : "") + String(repeating: "ab", count: 32) + tail)
    }

    @Test("status --json has exactly its members")
    func statusMembers() throws {
        let status = DriveStatus(home: "/h", mountpoint: nil, device: "d", state: .stopped)
        let text = String(decoding: try WireCodec.line(status), as: UTF8.self)
        #expect(
            text == """
                {"conflicts":0,"device":"d","errors":[],"heldDeletions":0,"home":"/h","items":0,"mountpoint":null,\
                "passthrough":false,"pending":{"delete":0,"download":0,"rename":0,"upload":0},"providers":[],"rescanning":false,\
                "state":"stopped"}

                """)
        #expect(try WireCodec.decode(DriveStatus.self, from: Array(text.utf8)) == status)
    }

    @Test("status says why a provider does not answer")
    func offlineReason() {
        let provider = DriveStatus.Provider(name: "p", url: "folder:/p", online: false, message: "it is not plugged in")
        let status = DriveStatus(home: "/h", mountpoint: "/m", device: "d", state: .mounted, providers: [provider])
        #expect(StatusText.drive(status).contains("folder:/p  offline\n           it is not plugged in\n"))
    }

    @Test("status says that deletions are held back, and how they are let go")
    func heldDeletions() {
        let status = DriveStatus(home: "/h", mountpoint: "/m", device: "d", state: .mounted, heldDeletions: 30)
        #expect(StatusText.drive(status).contains("Held       30 deletions, until `quire sync --confirm-deletes`"))
        let none = DriveStatus(home: "/h", mountpoint: "/m", device: "d", state: .mounted)
        #expect(!StatusText.drive(none).contains("Held"))
    }

    @Test("status names the side, the first documents and both ways out, of either side")
    func heldSides() throws {
        let held = [
            DriveStatus.Held(side: .provider, provider: "nas", count: 12, paths: [WirePath("a/b"), WirePath("c")]),
            DriveStatus.Held(side: .device, provider: "nas", count: 1, paths: [WirePath("d")]),
        ]
        let status = DriveStatus(
            home: "/h", mountpoint: "/m", device: "d", state: .mounted, heldDeletions: 13, held: held)
        let text = StatusText.drive(status)
        #expect(
            text.contains(
                """
                Held       12 deletions, not believed as they are so many: missing at nas, kept on this device: a/b, c and 10 more
                           `quire sync --confirm-deletes` deletes them here, too; `quire provider reset nas --confirm` sends all again
                Held       1 deletion, not believed as they are so many: missing on this device, kept at nas: d
                           `quire sync --confirm-deletes` deletes them at nas, too; `quire provider reset nas --confirm` brings \
                all here again
                """))
        let sent = try WireCodec.line(status)
        #expect(try WireCodec.decode(DriveStatus.self, from: sent) == status)
    }

    @Test("Errors that are not named are counted")
    func moreErrors() {
        let errors = (1...250).map {
            ParkedChange(subject: .item(ItemID($0)), path: "doc", message: "no", since: .unknown)
        }
        let status = DriveStatus(
            home: "/h", mountpoint: "/m", device: "d", state: .mounted, errors: DriveStatus.Problem.list(errors),
            errorsMore: DriveStatus.Problem.more(errors))
        #expect(StatusText.drive(status).hasSuffix("\n           and 50 more errors"))
        let report = SyncReport(
            end: .unresolved, pending: .init(), conflicts: 0, errors: status.errors,
            errorsMore: DriveStatus.Problem.more(errors))
        #expect(Sync.summary(report)?.contains("250 parked errors") == true)
        #expect(DriveStatus.Problem.more(Array(errors.prefix(200))) == 0)
    }

    @Test("status PATH says below the state what a document waits for, and why")
    func itemReason() throws {
        var status = ItemStatus(
            path: WirePath("a/b"), id: ItemID(0x1234), kind: .file, size: 3, state: .error, version: nil,
            provider: "p", container: .default, pinned: false, materialized: 3)
        #expect(StatusText.item(status) == "error       a/b")
        status.waiting = .init(path: status.path, reason: "parked", message: "it is too large", until: nil)
        #expect(StatusText.item(status) == "error       a/b\n            parked (it is too large)")
        #expect(try WireCodec.decode(ItemStatus.self, from: try WireCodec.line(status)) == status)
    }

    @Test("What a provider can do is told, resumable uploads as well")
    func abilities() {
        let words = ProviderTrial.words(
            ProviderCapabilities(
                conditionalWrites: .locked, stableIdentifiers: false, directoryMoves: true, symlinks: false,
                attributes: true, arbitraryNames: false), hasQuota: true)
        #expect(words.hasPrefix("conditional writes: by lock; resumable uploads: no; "))
        #expect(words.contains("change journal: no; quota: yes"))
    }

    @Test("status says that types are known by their extensions only")
    func mimeDatabase() throws {
        let status = DriveStatus(home: "/h", mountpoint: "/m", device: "d", state: .mounted, lacksMimeDatabase: true)
        #expect(StatusText.drive(status).contains("shared-mime-info"))
        #expect(String(decoding: try WireCodec.line(status), as: UTF8.self).contains("\"lacksMimeDatabase\":true"))
        let other = DriveStatus(home: "/h", mountpoint: "/m", device: "d", state: .mounted)
        #expect(!StatusText.drive(other).contains("Types"))
    }

    @Test("status --driver shows requests as a table, what waited below, and why there is no passthrough")
    func driverTable() {
        let none = DriverStatus.Times(count: 0, p50: 0, p99: 0, longest: 0, total: 0)
        let status = DriverStatus(
            mountpoint: "/m",
            requests: [
                .init(
                    kind: "LOOKUP", atOnce: .init(count: 12345, p50: 9.96, p99: 1530, longest: 2.5e6, total: 61e6),
                    waited: none),
                .init(
                    kind: "OPEN", atOnce: .init(count: 7, p50: 31.2, p99: 40, longest: 40, total: 250),
                    waited: .init(count: 1, p50: 1.2e6, p99: 1.2e6, longest: 1.2e6, total: 1.2e6)),
            ], parked: 2, interrupted: 1, nodes: 1_000_000, directoryDescriptors: .init(used: 3, limit: 256),
            openFiles: 4, descriptors: .init(used: 40, limit: 1024), queuedEvents: 0,
            passthroughObstacle: "the daemon lacks CAP_SYS_ADMIN", writebackCache: false, readers: 2,
            protocolVersion: "7.31", kernelProtocolVersion: "7.45")
        #expect(
            DriverStatusText.lines(status) == """
                Drive        /m
                Protocol     7.31 (the kernel's is 7.45)
                Passthrough  no: the daemon lacks CAP_SYS_ADMIN
                Writeback    no
                Readers      2 threads
                Waiting      2 requests; 1 interrupted since the mount
                Nodes        1,000,000
                Directories  3 of 256 descriptors
                Open files   4
                Descriptors  40 of 1,024
                Queued       0 changes for the index

                REQUEST        COUNT    P50     P99  LONGEST   TOTAL
                LOOKUP        12,345  10 µs  1.5 ms    2.5 s    61 s
                OPEN               7  31 µs   40 µs    40 µs  250 µs
                OPEN, waited       1  1.2 s   1.2 s    1.2 s   1.2 s
                """)
    }

    @Test("status --json PATH has exactly its members")
    func itemMembers() throws {
        let status = ItemStatus(
            path: WirePath("a/b"), id: ItemID(0x1234), kind: .file, size: 3, state: .localOnly, version: nil,
            provider: "p",
            container: .default, pinned: false, materialized: 3)
        let text = String(decoding: try WireCodec.line(status), as: UTF8.self)
        #expect(
            text == """
                {"container":"default","id":"0000000000001234","kind":"file","materialized":3,"path":"a/b","pinned":false,\
                "provider":"p","size":3,"state":"local-only","version":null}

                """)
        #expect(try WireCodec.decode(ItemStatus.self, from: Array(text.utf8)) == status)
    }

    @Test("Exit codes of sync")
    func syncExitCodes() {
        #expect(Sync.exitCode(.clean) == 0)
        #expect(Sync.exitCode(.unresolved) == 2)
        #expect(Sync.exitCode(.deletesHeld) == 2)
        #expect(Sync.exitCode(.unreachable) == 75)
        #expect(Sync.exitCode(.timedOut) == 75)
    }

    @Test("Pending counts in words")
    func pending() {
        #expect(StatusText.pending(PendingCounts()) == "nothing")
        #expect(StatusText.pending(PendingCounts(upload: 1, delete: 2)) == "1 upload, 2 deletions")
    }

    @Test("The greeting names drive and provider, and three things to try")
    func greeting() {
        let text = Greeting.text(
            mountpoint: "/home/a b/Drive",
            provider: .init(name: "embedded", url: "folder:/h/provider", isDefault: true),
            home: nil)
        #expect(text.contains("Your drive is at /home/a b/Drive"))
        #expect(text.contains("embedded (folder:/h/provider)"))
        #expect(text.contains("'/home/a b/Drive/hello.txt'"))
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("  ") }.count == 3)
        #expect(text.contains("quire sync && quire status "))
    }

    @Test("Where a home was given the things to try name it")
    func greetingWithHome() {
        let text = Greeting.text(mountpoint: "/d", provider: nil, home: "/a b")
        #expect(text.contains("quire sync --home '/a b' && quire status --home '/a b' "))
        #expect(text.contains("quire unmount --home '/a b' "))
    }
}

@Suite("Unmounting")
struct UnmountWordsTests {
    @Test("What waits is told, where anything does; where more may, that it is not known, and why")
    func words() {
        let (none, some) = (PendingCounts(), PendingCounts(upload: 2, delete: 1))
        let next = "; the next `quire mount` goes on with it"
        #expect(Unmount.words(.init(pending: none)) == nil)
        #expect(Unmount.words(.init(pending: some)) == "not yet uploaded: 2 uploads, 1 deletion" + next)
        #expect(
            Unmount.words(.init(pending: none, doubt: "the index is behind"))
                == "how much is not yet uploaded cannot be told: the index is behind" + next)
        #expect(
            Unmount.words(.init(pending: some, doubt: "the index is behind"))
                == "not yet uploaded: 2 uploads, 1 deletion, and how much more cannot be told: the index is behind"
                + next)
    }
}

@Suite("Mountpoints")
struct MountpointTests {
    private func refusal(_ path: String, _ directory: TemporaryDirectory, folders: [String] = []) throws -> String? {
        let location = try HomeLocation(
            option: "\(directory.path)/home", environment: { _ in nil }, workingDirectory: "/")
        do {
            _ = try Mountpoint.check(path, location: location, folders: folders)
            return nil
        } catch {
            return error.message
        }
    }

    @Test("A mountpoint is empty, or can be made, and lies outside the store")
    func checks() throws {
        let directory = try TemporaryDirectory()
        _ = try directory.make("home")
        let store = try directory.make("home/drive")
        let empty = try directory.make("empty")
        let full = try directory.make("full")
        try directory.write("full/x", "")
        #expect(try refusal(empty, directory) == nil)
        #expect(try refusal("\(directory.path)/new", directory) == nil)
        #expect(try refusal("\(directory.path)/no/new", directory)?.contains("is missing, and so is") == true)
        #expect(try refusal(full, directory)?.contains("is not empty (it has x)") == true)
        #expect(try refusal("\(full)/x", directory)?.contains("is not a directory") == true)
        #expect(try refusal(store, directory)?.contains("inside the drive's own store") == true)
        #expect(try refusal("\(store)/sub", directory)?.contains("inside the drive's own store") == true)
        #expect(try refusal(empty, directory, folders: ["\(empty)/p"])?.contains("inside the mountpoint") == true)
        #expect(
            try refusal("\(empty)/m", directory, folders: [empty])?.contains("inside the provider's folder") == true)
        symlink(store, "\(directory.path)/link")
        #expect(try refusal("\(directory.path)/link", directory)?.contains("inside the drive's own store") == true)
        symlink("\(directory.path)/nowhere", "\(directory.path)/dangling")
        #expect(try refusal("\(directory.path)/dangling", directory)?.contains("leads nowhere") == true)
    }

    @Test("A home inside the mountpoint is refused")
    func homeInside() throws {
        let directory = try TemporaryDirectory()
        #expect(try refusal(directory.path, directory)?.contains("inside the mountpoint") == true)
    }

    @Test("The kernel's list of mounts is understood")
    func mountTable() {
        let text = """
            36 35 98:0 / / rw,noatime master:1 - ext4 /dev/root rw
            40 36 0:45 / /home/a\\040b/Drive rw,nosuid - fuse.quire quire rw,user_id=0
            """
        let table = MountTable(text: Array(text.utf8))
        #expect(table.entries.count == 2)
        #expect(table.entry(at: "/home/a b/Drive")?.isDrive == true)
        #expect(table.entry(at: "/")?.isDrive == false)
    }

    @Test("A missing FUSE device says what to do")
    func device() {
        do {
            try FuseDevice.check(path: "/dev/no-such-fuse")
            Issue.record("accepted")
        } catch {
            #expect(error.code == .unavailable)
            #expect(error.description.contains("modprobe fuse"))
        }
    }
}
