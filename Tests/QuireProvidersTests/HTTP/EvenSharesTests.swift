import Testing

@testable import QuireProviders

@Suite("Event loops of requests")
struct EvenSharesTests {
    @Test("Requests are spread over the loops, and one that ends makes room on its own")
    func spread() {
        let shares = EvenShares(3)
        #expect((0..<6).map { _ in shares.take() } == [0, 1, 2, 0, 1, 2])
        shares.giveBack(1)
        shares.giveBack(1)
        shares.giveBack(2)
        #expect((0..<4).map { _ in shares.take() } == [1, 1, 2, 0])
    }
}
