import CFuse
import Glibc
import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("What programs have seen of documents that others change")
struct SeenContentsTests {
    private let document = SeenContents.Place(1, "doc")
    private let other = SeenContents.Place(1, "other")

    private func content(_ inode: ino_t, _ second: Int) -> stat {
        var status = stat()
        status.st_ino = inode
        status.st_ctim.tv_sec = second
        return status
    }

    @Test("Who read before another's change, and not since, has missed it")
    func missed() {
        let seen = SeenContents()
        seen.begin()
        seen.noteSight(of: document, content(10, 1), by: 7)
        #expect(!seen.hasMissed(content(10, 1), at: document) { $0 == 7 })
        seen.noteChange(at: document)
        #expect(seen.hasMissed(content(10, 2), at: document) { $0 == 7 })
        #expect(!seen.hasMissed(content(10, 2), at: document) { $0 == 8 })
        #expect(!seen.hasMissed(content(10, 2), at: other) { $0 == 7 })
        seen.noteSight(of: document, content(10, 2), by: 7)
        #expect(!seen.hasMissed(content(10, 3), at: document) { $0 == 7 })
    }

    @Test("A change that left the content as it was is none")
    func unchanged() {
        let seen = SeenContents()
        seen.begin()
        seen.noteSight(of: document, content(10, 1), by: 7)
        seen.noteChange(at: document)
        #expect(!seen.hasMissed(content(10, 1), at: document) { $0 == 7 })
    }

    @Test("What was read before anybody coordinated is known by its file")
    func beforeAnybody() {
        let seen = SeenContents()
        seen.noteSight(of: nil, content(10, 1), by: 7)
        seen.noteChange(at: document)
        #expect(seen.hasMissed(content(10, 2), at: document) { $0 == 7 })
        #expect(!seen.hasMissed(content(11, 2), at: document) { $0 == 7 })
    }

    @Test("Old looks give way to new ones; of several the last counts")
    func limit() {
        let seen = SeenContents()
        seen.begin()
        seen.noteSight(of: document, content(10, 1), by: 7)
        for number in 0..<8192 { seen.noteSight(of: other, content(ino_t(100 + number), 1), by: 8) }
        seen.noteChange(at: document)
        #expect(!seen.hasMissed(content(10, 2), at: document) { $0 == 7 })
    }
}
