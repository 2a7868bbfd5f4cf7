import NIOCore
import QuireCore
import Testing

@testable import QuireProviders

@Suite("Silence of a request")
struct RequestSilenceTests {
    private func request(workTime: Duration = .zero) -> RequestSilence {
        RequestSilence(idle: .seconds(30), workTime: workTime, now: .uptimeNanoseconds(0))
    }

    /// When it fails if nothing moves any more, looked at each second; nil for not within two hours.
    private func end(
        _ request: RequestSilence, from start: Int = 0, isSending: Bool = false, isReading: Bool = true
    ) -> (second: Int, failure: RequestSilence.Failure)? {
        var request = request
        for second in start..<start + 7200 {
            let look = RequestSilence.Look(
                now: .uptimeNanoseconds(UInt64(second) * 1_000_000_000), moved: 5, isSending: isSending,
                isReading: isReading)
            if let failure = request.look(look) { return (second, failure) }
        }
        return nil
    }

    @Test("What is on its way and does not arrive fails after the longest silence, before all is sent and after it")
    func sending() {
        var request = request()
        request.sends(100 << 20)
        #expect(end(request, isSending: true)! == (30, .sending))
        request.sendsEnd()
        #expect(end(request, isSending: true)! == (30, .sending))
    }

    @Test("What we do not supply, and what we do not take, is no silence")
    func ours() {
        var request = request()
        #expect(end(request) == nil)
        request.sends(5)
        #expect(end(request) == nil)
        request.sendsEnd()
        request.getsHead()
        #expect(end(request, isReading: false) == nil)
        #expect(end(request)! == (30, .rest))
    }

    @Test("What is refused before all was sent waits for the rest of the answer; a body that goes on waits for us")
    func refusedEarly() {
        for isRefused in [true, false] {
            var request = request()
            request.sends(5)
            request.getsHead(endsBody: isRefused)
            #expect(end(request)?.failure == (isRefused ? .rest : nil))
            #expect(end(request, isReading: false) == nil)
        }
    }

    @Test("A server that has all gets a second more for each megabyte, and what the request asks for, an hour at most")
    func work() {
        var small = request()
        small.sendsEnd()
        #expect(end(small)! == (30, .answer))
        var asking = request(workTime: .seconds(100))
        asking.sendsEnd()
        #expect(end(asking)! == (130, .answer))
        var large = request()
        for _ in 0..<300 { large.sends(1_000_000) }
        large.sendsEnd()
        #expect(end(large)! == (330, .answer))
        large.getsHead()
        #expect(end(large)! == (30, .rest))
        #expect(RequestSilence.timeToWork(on: ByteCount(1 << 50)) == .seconds(3600))
    }

    @Test("Silence counts from what moved last, in either direction, and from when it was our turn")
    func counts() {
        var request = request()
        request.sendsEnd()
        func look(_ second: UInt64, _ moved: UInt64) -> RequestSilence.Failure? {
            request.look(
                RequestSilence.Look(
                    now: .uptimeNanoseconds(second * 1_000_000_000), moved: moved, isSending: false, isReading: true))
        }
        for second in UInt64(0)..<100 { #expect(look(second * 29, second) == nil) }
        #expect(look(99 * 29 + 29, 99) == nil)
        #expect(look(99 * 29 + 30, 99) == .answer)
        request.getsHead()
        let held = RequestSilence.Look(
            now: .uptimeNanoseconds(9_000_000_000_000), moved: 99, isSending: false, isReading: false)
        #expect(request.look(held) == nil)
        #expect(look(9029, 99) == nil)
        #expect(look(9030, 99) == .rest)
    }

    @Test("A request is over when all was sent and all came, in whatever order")
    func over() {
        var early = request()
        early.getsHead()
        early.getsEnd()
        #expect(!early.isOver)
        early.sendsEnd()
        #expect(early.isOver)
        var ordinary = request()
        ordinary.sendsEnd()
        #expect(!ordinary.isOver)
        ordinary.getsEnd()
        #expect(ordinary.isOver)
    }
}
