import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// What comes from the provider and is installed, many at one go.
@Suite(.timeLimit(.minutes(1))) struct InstallationTests {
    let device: Device
    private let mtime = FileTime(seconds: 1_700_000_000, nanoseconds: 42)

    init() throws { device = try Device("one", provider: MemoryProvider(), clock: TestClock()) }

    private func installation(
        _ path: RelativePath, _ content: Installation.Content, within: UInt64? = nil
    ) -> Installation {
        let item = RemoteItem(path: path, kind: .file, version: ProviderVersion("v"), size: ByteCount(7), mtime: mtime)
        return Installation(
            path: path, content: content, expecting: .absent, base: BaseRecord(container: .default, item),
            within: within)
    }

    private func placeholder(_ version: String = "v") -> Installation.Content {
        .placeholder(
            Placeholder(version: ProviderVersion(version), container: .default), size: ByteCount(7), mtime: mtime,
            mode: 0o640)
    }

    private func perform(
        _ all: [Installation], mayCommit: () -> Bool = { true }
    ) -> [Result<LocalChangeResult, SyncFailure>] {
        Installation.perform(all, device.home.staging, device.committer, isClaimed: false, mayCommit: mayCommit)
    }

    /// What became of each, in a word.
    private func words(_ results: [Result<LocalChangeResult, SyncFailure>]) -> [String] {
        results.map { result in
            switch result {
            case .success(.done): "done"
            case .success(.stale): "stale"
            case .success(.busy): "busy"
            case .failure: "failed"
            }
        }
    }

    private func staged() throws -> [FileName] {
        try DriveTree(opening: device.home.staging.path).list(.root).map(\.name)
    }

    @Test("All of them are there then, each as it should be", arguments: [1, 3, 4, 300])
    func many(count: Int) throws {
        let paths = (0..<count).map { RelativePath(stringLiteral: "doc \($0)") }
        let results = perform(
            paths.map { installation($0, placeholder()) } + [
                installation("link", .link(target: [0x74], mtime: mtime)),
                installation("empty", .empty(mtime: mtime, mode: 0o600)),
            ])
        #expect(words(results) == [String](repeating: "done", count: count + 2))
        for path in paths {
            let status = try device.tree.requiredStatus(at: path)
            #expect(status.size == 7 && status.mtime == mtime && status.mode & 0o777 == 0o640)
            #expect(try Placeholder.mark(at: path, in: device.tree).isDataless)
        }
        #expect(try device.tree.readLink("link") == [0x74])
        #expect(try device.tree.requiredStatus(at: "empty").size == 0)
        #expect(try staged().isEmpty)
    }

    @Test("One that cannot be made, is in another's place or in another directory stops none of the others")
    func others() throws {
        try device.write("taken", "the user's")
        let results = perform([
            installation("one", placeholder()),
            installation("long", placeholder(String(repeating: "v", count: 70_000))),
            installation("taken", placeholder()), installation("elsewhere", placeholder(), within: 1),
            installation("two", placeholder()), installation("three", placeholder()),
        ])
        #expect(words(results) == ["done", "failed", "stale", "stale", "done", "done"])
        #expect(try device.tree.requiredStatus(at: "taken").size == 10)
        #expect(try device.tree.status(at: "long") == nil && device.tree.status(at: "elsewhere") == nil)
        #expect(try staged().isEmpty)
    }

    @Test("Once somebody begins to coordinate, no more are installed")
    func coordinated() throws {
        var left = 2
        let results = perform((0..<6).map { installation(RelativePath(stringLiteral: "\($0)"), placeholder()) }) {
            left -= 1
            return left >= 0
        }
        #expect(words(results) == ["done", "done", "busy", "busy", "busy", "busy"])
        #expect(try device.tree.status(at: "1") != nil && device.tree.status(at: "2") == nil)
        #expect(try staged().isEmpty)
    }
}
