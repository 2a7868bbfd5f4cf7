import QuireCore
import Testing

@testable import QuireMain

@Suite("What the keeper of thumbnails is told")
struct ThumbnailInboxTests {
    private struct Nowhere: StoreEventSink {
        func record(_ event: StoreEvent) {}
    }

    /// Pictures are made of images alone.
    private func inbox() -> ThumbnailInbox {
        let inbox = ThumbnailInbox(before: Nowhere())
        inbox.setInterest(ThumbnailInterest { $0.conforms(to: .image) })
        return inbox
    }

    private func status(_ inode: UInt64) -> FileStatus {
        FileStatus(
            kind: .file, mode: 0o644, size: 1, mtime: FileTime(nanoseconds: 1), ctime: FileTime(nanoseconds: 1),
            device: 1,
            inode: inode, linkCount: 1, blocks: 8)
    }

    private func save(_ inode: UInt64, _ name: String, _ inbox: ThumbnailInbox) throws {
        inbox.record(.created(parent: 1, name: try #require(FileName(name)), status(inode)))
        inbox.record(.contentChanged(status(inode), writersOpen: false))
    }

    private func rename(
        _ inode: UInt64, _ from: String, _ to: String, over replaced: UInt64? = nil, _ inbox: ThumbnailInbox
    ) throws {
        inbox.record(
            .renamed(
                .init(
                    fromParent: 1, fromName: try #require(FileName(from)), toParent: 1,
                    toName: try #require(FileName(to)),
                    status: status(inode), replaced: replaced)))
    }

    @Test("Of a source tree that is unpacked and removed, the pictures and what has no telling name")
    func sources() throws {
        let inbox = inbox()
        for number in UInt64(10)..<50_000 { try save(number, "\(number).c", inbox) }
        try save(2, "picture.png", inbox)
        try save(3, "LICENSE-of-it", inbox)
        #expect(inbox.take().touched == [2, 3])
        for number in UInt64(10)..<50_000 {
            inbox.record(.removed(parent: 1, name: try #require(FileName("\(number).c")), inode: number))
        }
        inbox.record(.removed(parent: 1, name: "picture.png", inode: 2))
        let news = inbox.take()
        #expect(news.gone == [2] && !news.isIncomplete)
    }

    @Test("A file that gets another name, another inode's content or a picture is told of")
    func changing() throws {
        let inbox = inbox()
        try save(2, "a.c", inbox)
        try rename(2, "a.c", "b.c", inbox)
        #expect(inbox.take().isEmpty)
        try rename(2, "b.c", "b.png", inbox)
        inbox.record(.contentChanged(status(2), writersOpen: false))
        #expect(inbox.take().touched == [2])
        // The number of a file that is gone comes back.
        try save(3, "c.c", inbox)
        inbox.record(.removed(parent: 1, name: "c.c", inode: 3))
        try save(3, "c.png", inbox)
        #expect(inbox.take().touched == [3])
        // One that was given a picture.
        try save(4, "d.c", inbox)
        inbox.track(4)
        inbox.record(.contentChanged(status(4), writersOpen: false))
        #expect(inbox.take().touched == [4])
        try save(5, "e.c", inbox)
        try rename(5, "e.c", "d.c", over: 4, inbox)
        let news = inbox.take()
        #expect(news.gone == [4] && news.touched == [5])
    }

    @Test("More than is remembered is told as that")
    func overflow() throws {
        let inbox = inbox()
        for number in UInt64(10)..<30_010 { try save(number, "\(number).png", inbox) }
        #expect(inbox.take().isIncomplete)
        #expect(inbox.isEmpty)
    }
}
