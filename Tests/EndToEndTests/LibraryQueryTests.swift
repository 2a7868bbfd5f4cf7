import Foundation
import Testing

extension EndToEnd {
    /// Queries of an app.
    @Suite("Library queries", .timeLimit(.minutes(5)))
    struct LibraryQueryTests {
        @Test("An app finds a document by its name and opens it, or creates it")
        func findOrCreate() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let app = try App()
                try app.tell("find-or-create \(drive.home) test.txt")
                try await app.hears("document created default text")
                try await drive.sh("mkdir sub; mv test.txt sub; printf other > sub/test.txt")
                try app.tell("find-or-create \(drive.home) test.txt")
                try await app.hears("document opened other")
            }
        }

        /// An app whose query `q` has found two texts. They are uploaded: that is no change that the test is about.
        private static func query(_ drive: Drive) async throws -> App {
            try await drive.sync()
            let app = try App()
            try app.tell("query start q \(drive.home) name == *.txt")
            try await app.hears("started q false")
            try await app.hears("started q true")
            try await app.hears("gathered q 2")
            return app
        }

        @Test("A running query tells an app what programs do, with the same object for the same document")
        func updates() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo 1 > a.txt; echo 22 > b.txt; echo 1 > other")
                let app = try await Self.query(drive)
                let noise = ["changed q "]
                try await drive.sh("mkdir d; mv a.txt d/c.txt")
                try await app.hears("changed q d/c.txt true")
                try await drive.sh("echo 333 > new.txt")
                try await app.hears("added q new.txt", skipping: noise)
                try await drive.sync()
                try await drive.sh("mv d e")
                try await app.hears("changed q e/c.txt true", skipping: ["changed q new.txt", "changed q d/"])
                try app.tell("query pause q")
                try await drive.sh("rm b.txt")
                try app.tell("query results q")
                try await app.hears("results q b.txt e/c.txt new.txt", skipping: noise)
                try app.tell("query resume q")
                try await app.hears("removed q b.txt true", skipping: noise)
                try app.tell("query sort q kMDItemFSSize")
                try app.tell("query results q")
                try await app.hears("results q new.txt e/c.txt", skipping: noise)
                try app.tell("query groups q kMDItemContentType")
                try await app.hears("groups q text(\"public.plain-text\"):2", skipping: noise)
                try app.tell("query start bad \(drive.home) size >")
                try await app.hears("started bad false", skipping: noise)
                try await app.hears("started bad true", skipping: noise)
                #expect(try await app.next(skipping: noise).hasPrefix("query-failed bad the expression cannot be read"))
            }
        }

        @Test("A query goes on when the daemon is started anew, and tells what became different meanwhile")
        func restart() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo 1 > a.txt; echo 1 > b.txt")
                let app = try await Self.query(drive)
                try await drive.quire("unmount").require(0)
                try await space.sh("rm one.home/drive/a.txt; echo 1 > one.home/drive/c.txt")
                try await drive.mount()
                let noise = ["changed q "]
                // The rescan may find both only after the query was made anew: two updates or one.
                var told = [try await app.next(skipping: noise), try await app.next(skipping: noise)]
                told.sort()
                #expect(told == ["added q c.txt", "removed q a.txt true"])
            }
        }
    }
}
