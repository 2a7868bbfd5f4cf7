import Foundation
import QuireCore
import QuireIndex
import Synchronization
import Testing

@Suite("Late reporter")
struct LateReporterTests {
    @Test("It is called as directly the ten thousandth time as the first")
    func depth() async throws {
        let drive = try TestDrive()
        let depths = Lock<[Int]>([])
        drive.index.setLateReporter { depths.withLock { $0.append(Thread.callStackReturnAddresses.count) } }
        for _ in 0..<10_000 { try await drive.index.settle() }
        let seen = depths.withLock { $0 }
        #expect(seen.count == 10_000)
        let (first, last) = (try #require(seen.first), try #require(seen.suffix(100).min()))
        #expect(last < first + 20, "\(first) frames at first, \(last) at last")
    }
}
