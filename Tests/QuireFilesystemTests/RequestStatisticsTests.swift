import CFuse
import QuireCore
import Synchronization
import Testing

@testable import QuireFilesystem

@Suite("Request statistics")
struct RequestStatisticsTests {
    @Test("Every time falls into a class that ends after it and is at most an eighth wide")
    func classes() {
        var times = Array(0...70_000)
        for exponent in 16...40 { times += (-2...2).map { (1 << exponent) + $0 } + [3 << (exponent - 1)] }
        for time in times.sorted() {
            let index = LatencyScale.index(nanoseconds: time)
            #expect((0..<LatencyScale.classes).contains(index))
            guard index < LatencyScale.classes - 1 else {
                #expect(time >= 1 << 34)
                continue
            }
            let end = LatencyScale.end(ofClass: index)
            #expect(time < end)
            if index > 0 {
                #expect(time >= LatencyScale.end(ofClass: index - 1))
                #expect(end - LatencyScale.end(ofClass: index - 1) <= time / 8 + 1)
            }
        }
        #expect(LatencyScale.index(nanoseconds: .max) == LatencyScale.classes - 1)
        #expect(LatencyScale.index(nanoseconds: -5) == 0)
    }

    @Test("Percentiles are those of the sorted times, at most an eighth too long", arguments: [1, 2, 3, 99, 100, 5000])
    func percentiles(number: Int) {
        var generator = SystemRandomNumberGenerator()
        let times = (0..<number).map { _ in Int.random(in: 300...9_000_000, using: &generator) }.sorted()
        let counters = RequestCounters()
        let kind = RequestKind(opcode: 1)
        for time in times.shuffled() { counters.count(kind, nanoseconds: time) }
        var counts = LatencyCounts()
        counters.add(kind, to: &counts)
        #expect(counts.count == UInt64(number))
        #expect(counts.totalNanoseconds == times.reduce(0, +))
        #expect(counts.longestNanoseconds == times.last)
        for share in [0.5, 0.99, 1] {
            let exact = times[max(0, Int((Double(number) * share).rounded(.up)) - 1)]
            let told = counts.nanoseconds(share: share)
            #expect(told >= exact && told <= exact + exact / 8 + 1, "\(share): \(told) for \(exact)")
        }
    }

    @Test("Nothing counted is told as zeros, and a kind beyond the list is counted with the last")
    func edges() {
        #expect(LatencyCounts().nanoseconds(share: 0.5) == 0)
        let counters = RequestCounters()
        counters.count(RequestKind(opcode: 4096), nanoseconds: 1000)
        var counts = LatencyCounts()
        counters.add(RequestKind(opcode: UInt32(RequestKind.limit - 1)), to: &counts)
        #expect(counts.count == 1)
    }

    @Test("A request set apart is counted once, when it was answered, among those that waited")
    func postponed() {
        let statistics = RequestStatistics()
        let counters = statistics.makeCounters()
        let work = cfuse_current_work()
        work.pointee = cfuse_work(
            began: Int64(MonotonicClock.now()), opcode: 14, postponed: false, locked: (0, 0))
        let request = RequestStatistics.postpone()
        #expect(work.pointee.postponed)
        RequestStatistics.resume(request)
        // It waits once more: what resumed it does not count it.
        let again = RequestStatistics.postpone()
        statistics.finishResumed(request)
        #expect(statistics.summary().isEmpty)
        RequestStatistics.resume(again)
        statistics.finishResumed(again)
        counters.count(RequestKind(opcode: 1), nanoseconds: 500)
        let summary = statistics.summary()
        #expect(summary.map(\.kind.name) == ["LOOKUP", "OPEN"])
        #expect(summary.map(\.atOnce.count) == [1, 0])
        #expect(summary.map(\.waited.count) == [0, 1])
    }

    @Test("The kernel's names stand at their numbers")
    func names() {
        for (opcode, name) in [
            1: "LOOKUP", 14: "OPEN", 26: "INIT", 35: "CREATE", 42: "BATCH_FORGET", 45: "RENAME2",
            47: "COPY_FILE_RANGE", 50: "SYNCFS", 51: "TMPFILE", 52: "STATX", 53: "OPCODE 53",
        ] { #expect(RequestKind(opcode: UInt32(opcode)).name == name) }
    }

    @Test("A trace names both ends of a rename, and what a read asks for")
    func texts() {
        let path = { (node: UInt64) in node == 1 ? "/" : "d" }
        func text(_ opcode: UInt32, node: UInt64, _ arguments: [UInt8]) -> String {
            var bytes = [UInt8](repeating: 0, count: RequestHeader.size)
            bytes.withUnsafeMutableBytes {
                $0.storeBytes(of: opcode, toByteOffset: 4, as: UInt32.self)
                $0.storeBytes(of: node, toByteOffset: 16, as: UInt64.self)
            }
            return arguments.withUnsafeBytes { RequestText.describe(RequestHeader(bytes), $0, path: path) }
        }
        func number<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        let rename = number(UInt64(1)) + number(UInt64(0)) + Array("old\0new\0".utf8)
        #expect(text(45, node: 7, rename) == "RENAME2 d/old → new")
        #expect(text(1, node: 1, Array("f\n\0".utf8)) == "LOOKUP f\\x0a")
        let read = number(UInt64(9)) + number(UInt64(4096)) + number(UInt32(512)) + number(UInt32(0))
        #expect(text(15, node: 7, read) == "READ d 512 at 4096")
        #expect(text(22, node: 7, number(UInt64(0)) + Array("user.a\0".utf8)) == "GETXATTR d user.a")
        // Cut short, as the kernel never sends it.
        for opcode in UInt32(0)...64 { _ = text(opcode, node: 7, []) }
    }
}

extension RequestHeader {
    fileprivate init(_ bytes: [UInt8]) { self = bytes.withUnsafeBytes { RequestHeader($0) } }
}
