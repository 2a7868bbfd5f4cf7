import Glibc
import QuireCore
import Testing

@testable import QuireProviders

@Suite("The clock of a folder's files")
struct FolderClockTests {
    private static let day: Int64 = 86_400_000_000_000
    private static let granularity: Int64 = 20_000_000

    private static func moment(wall: Int64, uptime: Int64) -> FolderClock.Moment { .init(wall: wall, uptime: uptime) }
    private static func time(_ nanoseconds: Int64) -> FileTime { FileTime(nanoseconds: nanoseconds) }

    /// Of a server that is a day behind, read at the wall clock's tenth day and after an hour's running.
    private static let start = moment(wall: 10 * day, uptime: day / 24)
    private static let clock = FolderClock(stamp: time(9 * day), between: start, and: start)

    private static func isRacy(_ mtime: Int64, after wall: Int64, _ uptime: Int64) -> Bool {
        let now = moment(wall: start.wall + wall, uptime: start.uptime + uptime)
        return clock.isRacy(time(mtime), since: now, until: now, granularity: granularity)
    }

    /// A folder whose files are stamped by a clock that is some days ahead.
    private static func hooks(ahead days: Int64, granularity: Int64? = nil) -> FolderHooks {
        var hooks = FolderHooks()
        hooks.afterProbe = { probe in
            let now = FolderClock.Moment.now()
            let stamp = probe.clock.map { FileTime(nanoseconds: $0.found.nanoseconds + days * day) }
            probe.clock = stamp.map { FolderClock(stamp: $0, between: now, and: now) }
            if let granularity { probe.granularity = granularity }
        }
        return hooks
    }

    @Test("What was written just now by the server's clock is racy, and what was by this machine's is not")
    func offset() {
        #expect(Self.isRacy(9 * Self.day, after: 0, 0))
        #expect(!Self.isRacy(10 * Self.day, after: 0, 0))
        #expect(!Self.isRacy(9 * Self.day, after: 30_000_000, 30_000_000))
        let later = 9 * Self.day + 1_000_000_000
        #expect(Self.isRacy(later, after: 1_000_000_000, 1_000_000_000))
        #expect(!Self.isRacy(later, after: 0, 0), "a time to come")
        #expect(!Self.isRacy(.max, after: 0, 0) && !Self.isRacy(.min, after: 0, 0))
    }

    @Test("It is racy also after this machine's clock was set, or if that is the one that stamps")
    func set() {
        let (hour, second) = (Self.day / 24, Int64(1_000_000_000))
        #expect(Self.isRacy(9 * Self.day + second, after: hour, second), "the server's was not set")
        #expect(Self.isRacy(9 * Self.day + hour, after: hour, second), "it is this machine's")
        #expect(!Self.isRacy(9 * Self.day + hour / 2, after: hour, second))
    }

    @Test("What was written while a directory was listed is racy")
    func listing() {
        let end = Self.moment(wall: Self.start.wall + Self.day / 24, uptime: Self.start.uptime + Self.day / 24)
        #expect(
            Self.clock.isRacy(
                Self.time(9 * Self.day + Self.day / 48), since: Self.start, until: end,
                granularity: Self.granularity))
    }

    @Test("Guesses become vague, and what may be racy counts as it")
    func drift() {
        let later = Self.moment(wall: Self.start.wall + Self.day, uptime: Self.start.uptime + Self.day)
        #expect(!Self.clock.isVague(at: Self.start, granularity: Self.granularity))
        #expect(Self.clock.isVague(at: later, granularity: Self.granularity))
        #expect(Self.isRacy(10 * Self.day - 5_000_000_000, after: Self.day, Self.day))
        let wait = Self.clock.timeToSettle(Self.time(10 * Self.day), at: later, granularity: Self.granularity)
        #expect(wait > 0 && wait <= 2 * Self.granularity)
    }

    @Test("After the time to settle nothing is racy")
    func settling() {
        let wait = Self.clock.timeToSettle(
            Self.time(9 * Self.day + 3_000_000), at: Self.start, granularity: Self.granularity)
        #expect((23_000_000...23_010_000).contains(wait))
        #expect(!Self.isRacy(9 * Self.day + 3_000_000, after: wait, wait))
        #expect(
            Self.clock.timeToSettle(Self.time(10 * Self.day), at: Self.start, granularity: Self.granularity) == 0)
    }

    @Test(
        "A document of a server whose clock is a day off gets a version when that proves something",
        arguments: [-1, 0, 1])
    func provider(days: Int64) async throws {
        let folder = try TemporaryDirectory()
        // Long enough to be told from what a look takes.
        let provider = FolderProvider(root: folder.path, hooks: Self.hooks(ahead: days, granularity: 400_000_000))
        _ = try await provider.connect(expected: nil)
        func time(ofLookAt name: String, _ offset: Int64) async throws -> Duration {
            let path = folder.appending(name)
            Plain.write("text", to: path)
            let now = Self.time(SystemCalls.now().nanoseconds + offset * Self.day)
            let stamp = timespec(tv_sec: now.seconds, tv_nsec: now.subsecondNanoseconds)
            let times = [stamp, stamp]
            #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
            let begun = ContinuousClock.now
            let item = try #require(try await provider.item(at: RelativePath([FileName(unchecked: Array(name.utf8))])))
            #expect(!item.version.rawValue.contains("~"), "a version that comes again")
            return ContinuousClock.now - begun
        }
        #expect(try await time(ofLookAt: "new", days) >= .milliseconds(300), "it waits until a write would be noticed")
        _ = try await time(ofLookAt: "other", days + 1)
    }

    @Test("What is young by the clock that stamped it is not swept, whatever this machine's clock says")
    func sweep() async throws {
        let folder = try TemporaryDirectory()
        _ = try await FolderProvider(root: folder.path).connect(expected: nil)
        let upload = folder.appending(".quire/tmp/put-another")
        Plain.write("half", to: upload)
        _ = try await FolderProvider(root: folder.path).connect(expected: nil)
        #expect(access(upload, F_OK) == 0)
        _ = try await FolderProvider(root: folder.path, hooks: Self.hooks(ahead: 2)).connect(expected: nil)
        #expect(access(upload, F_OK) != 0, "it is the folder's clock that counts")
    }
}
