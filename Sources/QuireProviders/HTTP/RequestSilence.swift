import NIOCore
import QuireCore

/// One request on its connection: whose turn it is, and since when nothing has moved though it should.
///
///     the body goes out    ─ some is on its way   the network's turn
///                          ─ none is              ours: the disk, or a limit of our own, holds it up
///     all is out           ─                      the server's turn, which may have to work through what it got
///     the answer comes in  ─ more is asked for    the network's turn
///                          ─ it is not            ours
struct RequestSilence {
    /// What did not go on in time.
    enum Failure: Error {
        /// The other side takes no more of the request.
        case sending
        /// The server has all, and answers nothing.
        case answer
        /// The rest of the answer does not come.
        case rest
    }

    /// What is seen of a connection at one moment.
    struct Look {
        var now: NIODeadline
        /// Bytes that the other side has acknowledged, and bytes that came from it, since the connection began.
        var moved: UInt64
        /// Bytes were handed over that it has not acknowledged.
        var isSending: Bool
        /// More of the answer is asked for than has come.
        var isReading: Bool
    }

    private let idle: TimeAmount
    private let workTime: TimeAmount
    private var sent: Int64 = 0
    private var isWhole = false
    private var isStopped = false
    private var hasHead = false
    private var hasEnd = false
    private var last: NIODeadline
    private var moved: UInt64?

    /// Content that a server works through in a second: passes on, copies, counts. Slow ones do several times as much.
    private static let rate: Int64 = 1_000_000
    private static let longestWork = Duration.seconds(3600)

    /// A request begins.
    ///
    /// - Parameters:
    ///   - idle: how long nothing may move.
    ///   - workTime: how much longer the server may be at work, besides what it gets for the size of the body.
    init(idle: TimeAmount, workTime: Duration, now: NIODeadline) {
        (self.idle, self.workTime, last) = (idle, TimeAmount(workTime), now)
    }

    /// How long a server may be at work on so much content.
    static func timeToWork(on size: ByteCount) -> Duration {
        min(.seconds(Double(size.bytes) / Double(rate)), longestWork)
    }

    /// Whether all has been sent and all has come.
    var isOver: Bool { isWhole && hasEnd }

    /// Some of the body was handed over.
    mutating func sends(_ count: Int) { sent += Int64(count) }

    /// All of the request was handed over.
    mutating func sendsEnd() { isWhole = true }

    /// The answer began.
    ///
    /// - Parameter endsBody: no more of the request is handed over then, as where the server refuses it.
    mutating func getsHead(endsBody: Bool = false) {
        hasHead = true
        if endsBody { isStopped = true }
    }

    /// The answer is there whole.
    mutating func getsEnd() { hasEnd = true }

    /// Looks at the connection; what the request fails with, if it does.
    mutating func look(_ look: Look) -> Failure? {
        guard let (failure, patience) = waiting(look), look.moved == moved else {
            (last, moved) = (look.now, look.moved)
            return nil
        }
        return look.now - last >= patience ? failure : nil
    }

    /// For what the request waits, and how long it may; nil where it waits for us.
    private func waiting(_ look: Look) -> (Failure, TimeAmount)? {
        if look.isSending { return (.sending, idle) }
        guard isWhole || isStopped else { return nil }
        if !hasHead { return (.answer, idle + workTime + TimeAmount(Self.timeToWork(on: ByteCount(sent)))) }
        return look.isReading ? (.rest, idle) : nil
    }
}
