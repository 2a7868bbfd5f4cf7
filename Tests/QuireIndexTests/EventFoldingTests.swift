import QuireCore
import Testing

@testable import QuireIndex

@Suite("Folding a batch of events")
struct EventFoldingTests {
    private static func status(_ inode: UInt64, size: Int64, links: UInt64 = 1) -> FileStatus {
        FileStatus(
            kind: .file, mode: 0o644, size: size, mtime: FileTime(nanoseconds: size),
            ctime: FileTime(nanoseconds: size), device: 1, inode: inode, linkCount: links, blocks: 8)
    }

    private static func fold(_ events: [StoreEvent]) -> [IngestQueue.Entry.Work] {
        EventFolding.fold(
            events.enumerated().map {
                IngestQueue.Entry(work: .event($0.element), time: FileTime(nanoseconds: Int64($0.offset)))
            }
        ).map(\.work)
    }

    private static func describe(_ works: [IngestQueue.Entry.Work]) -> [String] {
        works.map {
            switch $0 {
            case .event(.created(_, let name, let status)): "created \(name) \(status.size)"
            case .event(.contentChanged(let status, let open)):
                "content \(status.inode) \(status.size)\(open ? " open" : "")"
            case .event(.removed(_, let name, _)): "removed \(name)"
            case .event(.attributesChanged(let status, _, _)): "attributes \(status.inode)"
            case .event(.baseRemoved): "provider"
            case .arrived(_, let name, let status): "arrived \(name) \(status.size)"
            case .event, .command: "other"
            }
        }
    }

    @Test("A file that is created, written and closed arrives once, as it was left")
    func arrival() {
        let works = Self.fold([
            .created(parent: 1, name: "a", Self.status(7, size: 0)),
            .contentChanged(Self.status(8, size: 5), writersOpen: false),
            .contentChanged(Self.status(7, size: 3), writersOpen: false),
            .contentChanged(Self.status(7, size: 4), writersOpen: false),
        ])
        #expect(Self.describe(works) == ["arrived a 4", "content 8 5"])
    }

    @Test("What is still open for writing is told as such")
    func open() {
        let works = Self.fold([
            .created(parent: 1, name: "a", Self.status(7, size: 0)),
            .contentChanged(Self.status(7, size: 3), writersOpen: true),
            .contentChanged(Self.status(7, size: 4), writersOpen: true),
        ])
        #expect(Self.describe(works) == ["created a 0", "content 7 4 open"])
    }

    @Test("Nothing is folded across what the provider says, a removal, or other attributes")
    func borders() {
        let removed = StoreEvent.baseRemoved(container: .default, path: .root)
        #expect(
            Self.describe(
                Self.fold([
                    .contentChanged(Self.status(7, size: 3), writersOpen: false), removed,
                    .contentChanged(Self.status(7, size: 4), writersOpen: false),
                ])) == ["content 7 3", "provider", "content 7 4"])
        #expect(
            Self.describe(
                Self.fold([
                    .created(parent: 1, name: "a", Self.status(7, size: 0)),
                    .removed(parent: 1, name: "a", inode: 7),
                    .contentChanged(Self.status(7, size: 4), writersOpen: false),
                ])) == ["created a 0", "removed a", "content 7 4"])
        #expect(
            Self.describe(
                Self.fold([
                    .contentChanged(Self.status(7, size: 3), writersOpen: false),
                    .attributesChanged(Self.status(7, size: 3), writersOpen: false),
                    .contentChanged(Self.status(7, size: 4), writersOpen: false),
                ])) == ["content 7 3", "attributes 7", "content 7 4"])
    }

    @Test("A file with several names is not taken for one that arrived")
    func links() {
        let works = Self.fold([
            .created(parent: 1, name: "a", Self.status(7, size: 0)),
            .created(parent: 1, name: "b", Self.status(7, size: 0, links: 2)),
            .contentChanged(Self.status(7, size: 3, links: 2), writersOpen: false),
        ])
        #expect(Self.describe(works) == ["created a 0", "created b 0", "content 7 3"])
    }
}
