import QuireCore
import Synchronization
import Testing

@testable import QuireIndex

@Suite("Files that are written to while they are open", .timeLimit(.minutes(1)))
struct OpenFilesTests {
    @Test("wait since the first write, since a snapshot of them was sent, and since they were closed")
    func since() async throws {
        try await withDrive { drive in
            try drive.create("log", "1")
            try await drive.acknowledge("log")
            var times: [FileTime] = []
            for text in ["two", "three", "four"] {
                drive.clock.advance(seconds: 1)
                try drive.write("log", text, writersOpen: true)
                times.append(try await drive.item("log").since)
            }
            #expect(times[0] == times[1] && times[1] == times[2])
            drive.clock.advance(seconds: 1)
            let item = try await drive.item("log")
            #expect(item.difference.contains(.content) && item.local.size == 4)
            drive.index.record(
                .acknowledged(
                    .init(
                        item: item.id, base: try drive.base("log", version: "2"),
                        fingerprint: try drive.present("log").fingerprint, writersOpen: true)))
            let sent = try await drive.item("log").since
            #expect(sent > times[2])
            drive.clock.advance(seconds: 1)
            try drive.write("log", "fifth", writersOpen: true)
            #expect(try await drive.item("log").since == sent)
            try drive.closed("log")
            #expect(try await drive.item("log").since > sent)
        }
    }

    @Test("are news once, not with each write")
    func news() async throws {
        try await withDrive { drive in
            try drive.create("log", "1")
            try await drive.acknowledge("log")
            try drive.write("log", "open", writersOpen: true)
            try await drive.index.settle()
            let told = Lock(0)
            let changes = drive.index.changes()
            let counting = Task { for await _ in changes { told.withLock { $0 += 1 } } }
            for number in 0..<200 {
                try drive.write("log", "\(number)", writersOpen: true)
                try await drive.index.settle()
                await Task.yield()
            }
            counting.cancel()
            // Names are indexed by and by.
            #expect(told.withLock { $0 } < 20)
        }
    }
}
