import Foundation
import Testing

extension EndToEnd {
    /// A daemon that is killed while a document goes to an object store in parts, and the next one.
    @Suite("Killed while a document goes up in parts", .timeLimit(.minutes(10)))
    struct UploadKillTests {
        /// Where documents go in parts: moto cannot copy under a condition.
        static var servers: [String] { ["seaweedfs"].filter { StorageServers.started[$0] != nil } }

        /// At which request the daemon is killed, and how much of that there was.
        private struct Moment {
            let name: String
            let request: (method: String, target: String)
            /// One of the silences of `faults.py`.
            let fault: String
            /// Parts that are sent again.
            var again = 0

            /// Nothing has reached the store: the next daemon sends the document as it sends every one.
            var isFirst: Bool { request.target.hasSuffix("uploads=") && fault == "silence" }
            /// The document is published: the next daemon finds it there, and what it was copied from goes another day.
            var isPublished: Bool {
                request.method == "DELETE" && fault == "silence"
                    || request.method == "PUT" && again == 0
                        && fault == "silent-answer" && !request.target.contains("partNumber")
            }
        }

        /// Three parts: two whole ones and a rest.
        private static let size = 33 << 20
        private static let parts = 3
        private static let staged = "/[.]quire/tmp/[0-9a-f]{64}"

        /// Every request of an upload in parts: before it is passed on, and after the store did what was asked; and the
        /// middle of each part.
        private static func moments(_ document: String) -> [Moment] {
            func around(_ name: String, _ method: String, _ target: String, isPart: Bool = false) -> [Moment] {
                let request = (method, target)
                let before = Moment(name: "before \(name)", request: request, fault: "silence", again: isPart ? 1 : 0)
                let within = Moment(name: "within \(name)", request: request, fault: "silent-body", again: 1)
                let after = Moment(name: "after \(name)", request: request, fault: "silent-answer")
                return isPart ? [before, within, after] : [before, after]
            }
            return around("the beginning", "POST", "\(staged)[?]uploads=")
                + (1...parts).flatMap {
                    around("part \($0)", "PUT", "\(staged)[?]partNumber=\($0)&", isPart: true)
                }
                + around("the end of the parts", "POST", "\(staged)[?]uploadId=")
                + around("the copy", "PUT", "/\(document)$")
                + around("the removal", "DELETE", "\(staged)$")
        }

        @Test(
            "Killed at any step, it goes on where it was: of the parts only the one that was under way is sent again",
            arguments: servers)
        func killed(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await Workspace.use { workspace in
                let log = "\(workspace.root)/requests"
                let front = try Weather(log: log).front("one", to: account.authority)
                let drive = try await workspace.drive(at: account.through(port: front.port), "one")
                try await drive.mount()
                try await drive.sync()
                var seen = 0
                for number in Self.moments("").indices {
                    let document = "doc-\(number)"
                    let moment = Self.moments(document)[number]
                    do {
                        try await kill(drive, front, moment, document)
                        try await expectPublished(document, drive, account)
                    } catch {
                        throw Trouble("killed \(moment.name): \(error)")
                    }
                    let asked = try requests(log)
                    expectOnce(asked[seen...], moment, document)
                    seen = asked.count
                }
                try await expectNothingLeft(drive, account)
            }
        }

        /// Has the drive send a document in parts, and kills its daemon at that moment.
        private func kill(
            _ drive: Drive, _ front: Weather.Front, _ moment: Moment, _ document: String
        ) async throws {
            // It goes with one request until one was cut.
            try front.set(
                .init(fault: "reset-body", methods: ["PUT"], path: "/\(document)$", times: 1),
                .init(fault: moment.fault, methods: [moment.request.method], path: moment.request.target))
            let before = try front.count.silent
            try await drive.sh("head -c \(Self.size) /dev/urandom > \(document)")
            async let sync = drive.quire("sync", "--timeout", "45")
            try await eventually("the request is \(moment.name)", seconds: 45) { try front.count.silent > before }
            try drive.crash()
            _ = await sync
            try front.clear()
            try await drive.remount()
        }

        private func expectPublished(
            _ document: String, _ drive: Drive, _ account: StorageServers.Account
        ) async throws {
            try await drive.sync()
            let digest = try await drive.sh("sha256sum < \(document)").prefix(64)
            let tree = try await StorageServers.tree(account)
            #expect(
                tree.contains("\(digest) '\(document)'\n"), "\(document) is not at the store as it is here: \(tree)")
        }

        /// What was asked, as METHOD TARGET.
        private func requests(_ log: String) throws -> [String] {
            try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ", maxSplits: 5)
                return words.count > 4 && words[2] == "asked" ? "\(words[3]) \(words[4])" : nil
            }
        }

        private func expectOnce(_ asked: ArraySlice<String>, _ moment: Moment, _ document: String) {
            let parts = asked.count { $0.contains("?partNumber=") && $0.contains("/.quire/tmp/") }
            // One without the metadata of a copy has no other mark than that it comes before the first part, or without parts.
            let begun = asked.count { $0.hasSuffix("?uploads=") && $0.hasPrefix("POST") }
            let again = moment.isFirst && parts == 0 ? 0 : parts - Self.parts
            print("killed \(moment.name): \(parts) parts asked for, \(begun) uploads begun")
            #expect(again == moment.again, "killed \(moment.name): \(again) parts were sent again: \(asked)")
            #expect(begun == 1, "killed \(moment.name): \(asked)")
        }

        /// Each document is there once, and no upload goes on. What was published before the daemon ended lies at its own
        /// name too, until a sweep a day later.
        private func expectNothingLeft(_ drive: Drive, _ account: StorageServers.Account) async throws {
            let moments = Self.moments("")
            let names = try await drive.sh("ls -A").split(separator: "\n")
            #expect(names.count == moments.count, "\(names)")
            #expect(try await StorageServers.tree(account).split(separator: "\n").count == moments.count)
            let uploads = try await StorageServers.ask(account, "uploads=")
            #expect(uploads.contains("ListMultipartUploadsResult") && !uploads.contains("<UploadId>"), "\(uploads)")
            let own = try await StorageServers.ask(account, "list-type=2&prefix=.quire%2Ftmp%2F")
            let left = own.matches(of: /<Key>/).count
            #expect(left <= moments.count { $0.isPublished }, "\(own)")
            print("\(left) staged documents are left to the sweep")
        }
    }
}
