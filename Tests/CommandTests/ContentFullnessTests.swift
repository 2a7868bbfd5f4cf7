import QuireCore
import Testing

@testable import QuireMain

@Suite("Room for the words of documents")
struct ContentFullnessTests {
    @Test("Full is told once, and room again once a tenth of it is free")
    func changes() {
        let (fullness, limit) = (ContentFullness(), ByteCount(1000))
        #expect(fullness.note(ByteCount(999), limit: limit) == nil && !fullness.isFull)
        #expect(fullness.note(ByteCount(1000), limit: limit) == .full && fullness.isFull)
        #expect(fullness.note(ByteCount(900), limit: limit) == nil && fullness.isFull)
        #expect(fullness.note(ByteCount(899), limit: limit) == .roomAgain && !fullness.isFull)
        #expect(fullness.note(ByteCount(950), limit: limit) == nil && !fullness.isFull)
    }
}
