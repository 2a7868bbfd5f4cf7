import QuireCore
import Testing

@Suite("Sizes and room")
struct SizesTests {
    @Test(
        "A size in words is read",
        arguments: [
            ("10 GB", 10_000_000_000), ("5GiB", 5_368_709_120), ("1.5 kB", 1500), ("7", 7), ("2 tb", 2_000_000_000_000),
            ("3 B", 3), ("64 KiB", 65536),
        ])
    func reads(text: String, bytes: Int64) { #expect(ByteCount(text: text) == ByteCount(bytes)) }

    @Test(
        "What is no size is not read",
        arguments: ["", "GB", "10 XB", "-1 GB", "1 2 GB", "0", "1 G B", "99999999 TB", "1,5 GB"])
    func refuses(text: String) { #expect(ByteCount(text: text) == nil) }

    @Test(
        "A size is written so that it is read as the same",
        arguments: [1, 999, 1500, 10_000_000_000, 65536, 1_610_612_736])
    func exact(bytes: Int64) {
        #expect(ByteCount(text: ByteCount(bytes).exactText) == ByteCount(bytes))
    }

    @Test("Without a limit nothing is counted, and nothing is refused")
    func unlimited() {
        let room = WriteRoom()
        #expect(room.take(.max))
        #expect(!room.isLimited && !room.isNear && !room.isFull)
        #expect(room.report == nil)
    }

    @Test("What does not fit is refused and takes nothing; what was taken while somebody counted is taken off again")
    func limited() {
        let room = WriteRoom()
        room.set(now: 100, atMost: 100, of: 1000, asOf: room.taken)
        #expect(room.isLimited && room.isNear && !room.isFull)
        #expect(!room.take(101))
        #expect(room.take(60))
        let before = room.taken
        #expect(room.take(30))
        room.set(now: 10, atMost: 50, of: 1000, asOf: before)
        #expect(room.report?.left == 20)
        #expect(!room.take(1) && !room.isFull)
        room.takeRegardless(25)
        #expect(room.isFull)
        #expect(room.take(0))
        #expect(!room.take(1))
        room.set(now: 0, atMost: 2 << 30, of: nil, asOf: room.taken)
        #expect(!room.isNear && !room.isFull)
    }
}
