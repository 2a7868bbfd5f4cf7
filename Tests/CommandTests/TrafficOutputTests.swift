import QuireCore
import Testing

@testable import QuireSync
@testable import QuireMain

@Suite("What is said of transfers")
struct TrafficOutputTests {
    @Test("Progress is files, bytes, rate and the time left, as far as known")
    func progress() {
        let half = DriveMethods.Sync.Partial(
            filesDone: 12, filesTotal: 40, bytesDone: 34_000_000, bytesTotal: 1_200_000_000, bytesPerSecond: 5_600_000,
            secondsLeft: 208)
        #expect(ProgressLines.text(half) == "12 of 40 files, 34 MB of 1.2 GB, 5.6 MB/s, 3 min 28 s left")
        let start = DriveMethods.Sync.Partial(
            filesDone: 0, filesTotal: 3, bytesDone: 0, bytesTotal: 0, bytesPerSecond: 0, secondsLeft: nil)
        #expect(ProgressLines.text(start) == "0 of 3 files")
    }

    @Test("The time left is that of the rest at this rate, rounded up; without a rate nobody can tell")
    func secondsLeft() {
        var progress = SyncProgress(filesDone: 0, filesTotal: 1, bytesDone: 10, bytesTotal: 111, bytesPerSecond: 50)
        #expect(progress.secondsLeft == 3)
        #expect(
            SyncProgress(filesDone: 0, filesTotal: 1, bytesDone: 0, bytesTotal: .max, bytesPerSecond: .max).secondsLeft
                == 1)
        progress.bytesPerSecond = 0
        #expect(progress.secondsLeft == nil)
    }

    @Test("Durations", arguments: [("90s", 90.0), ("2h30m", 9000), ("1d", 86_400), ("1.5h", 5400)])
    func durations(text: String, seconds: Double) throws { #expect(try Pause.seconds(text) == seconds) }

    @Test("What is no duration is refused", arguments: ["", "soon", "10", "h", "-1h", "0s", "1w"])
    func noDurations(text: String) { #expect(throws: (any Error).self) { try Pause.seconds(text) } }

    @Test("A rate is read as it is written, and too low a one is refused")
    func rates() {
        #expect(TransferRate.read("2 MB/s") == ByteCount(2_000_000))
        #expect(TransferRate.read("500kB") == ByteCount(500_000))
        #expect(TransferRate.read("1 kB/s") == nil)
        #expect(TransferRate.read(TransferRate.text(ByteCount(1_234_567))) == ByteCount(1_234_567))
    }

    @Test("The status says what uploads wait for, ten at most, and how many more there are")
    func waiting() {
        var waiting = (0..<12).map {
            DriveStatus.Waiting(
                path: WirePath(RelativePath(parsing: "f\($0)") ?? .root), reason: "queued", message: nil, until: nil)
        }
        waiting[0].reason = "offline"
        waiting[0].message = "no answer"
        let status = DriveStatus(
            home: "/h", mountpoint: "/m", device: "d", state: .mounted, pending: PendingCounts(upload: 15),
            space: .init(used: 4_200_000_000, limit: 10_000_000_000, keepFree: nil, left: 6_100_000_000),
            paused: .init(until: nil), waiting: waiting)
        let text = StatusText.drive(status)
        #expect(text.contains("Waiting    f0: the provider is offline (no answer)\n"))
        #expect(text.contains("f9: in the queue\n           and 5 more"))
        #expect(!text.contains("f10"))
        #expect(text.contains("Space      4.2 GB of 10 GB; programs may add 6.1 GB"))
        #expect(text.contains("Paused     paused until `quire resume`"))
    }
}
