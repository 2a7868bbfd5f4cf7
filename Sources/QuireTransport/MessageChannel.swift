import Glibc
import QuireCore
import Synchronization

/// What is told of a channel, on the loop's thread, in order.
package protocol MessageHandler: Sendable {
    /// A whole message, without its newline.
    func received(_ line: [UInt8], on channel: MessageChannel)
    /// A message is longer than the limit; nothing more will be read.
    func overran(_ channel: MessageChannel)
    /// The other side writes nothing more, but may still read.
    func inputEnded(_ channel: MessageChannel)
    /// The channel is gone. Called once, last.
    func closed(_ channel: MessageChannel)
}

/// One socket of a `MessageLoop`. All methods may be called from any thread; none blocks.
package final class MessageChannel: Sendable {
    fileprivate struct State {
        var framer = LineFramer()
        var output: [[UInt8]] = []
        /// Bytes of `output[0]` that are written.
        var written = 0
        var queuedBytes = 0
        var isReading = true
        var inputEnded = false
        var closesWhenFlushed = false
        var isDone = false
        var isFinished = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Above this many queued bytes `send` of long answers waits.
    private static let highWater = 1 << 20

    let descriptor: Int32
    // Taken alone; handlers are called outside.
    private let state = Lock(State())
    private let loop: MessageLoop
    private let handler: any MessageHandler

    init(descriptor: Int32, loop: MessageLoop, handler: some MessageHandler) {
        self.descriptor = descriptor
        self.loop = loop
        self.handler = handler
    }

    /// Writes bytes as far as the socket takes them now, and queues the rest; dropped when the channel is closed.
    package func send(_ bytes: [UInt8]) {
        let (isQueued, waiters) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
            guard !state.isDone, !state.isFinished, !state.closesWhenFlushed else { return (false, []) }
            let isFirst = state.output.isEmpty
            state.output.append(bytes)
            state.queuedBytes += bytes.count
            guard isFirst else { return (true, []) }
            // Open as long as the channel is not marked as finished. What fails here fails in the loop, too.
            let count = write(bytes, from: 0)
            let waiters = count > 0 ? state.wrote(count, highWater: Self.highWater) : []
            return (!state.output.isEmpty, waiters)
        }
        for waiter in waiters { waiter.resume() }
        if isQueued { loop.wake() }
    }

    private func write(_ chunk: [UInt8], from start: Int) -> Int {
        chunk.withUnsafeBytes { bytes in
            Glibc.send(
                descriptor, bytes.baseAddress?.advanced(by: start), bytes.count - start,
                Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
    }

    /// Returns once the other side has read enough that more can be queued, or the channel is closed.
    package func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                let mayGoOn = state.queuedBytes <= Self.highWater || state.isDone || state.isFinished
                if !mayGoOn { state.waiters.append(continuation) }
                return mayGoOn
            }
            if mayGoOn { continuation.resume() }
        }
    }

    /// Stops reading (the other side then blocks), or goes on.
    package func setReading(_ isReading: Bool) {
        state.withLock { $0.isReading = isReading }
        loop.wake()
    }

    /// Closes at once, or when what is queued has been written.
    package func close(flushing: Bool = true) {
        state.withLock { state in
            state.closesWhenFlushed = true
            if !flushing || state.output.isEmpty { state.isDone = true }
        }
        loop.wake()
    }

    // MARK: On the loop's thread

    var isDone: Bool { state.withLock { $0.isDone } }

    var interest: Int16 {
        state.withLock { state in
            let reads = state.isReading && !state.inputEnded && !state.closesWhenFlushed
            return Int16((reads ? POLLIN : 0) | (state.output.isEmpty ? 0 : POLLOUT))
        }
    }

    func serve(_ events: Int16) {
        let events = Int32(events)
        if events & POLLIN != 0 { readOnce(isHungUp: events & (POLLHUP | POLLERR) != 0) }
        if events & POLLOUT != 0 { writeQueued() }
        if events & (POLLHUP | POLLERR | POLLNVAL) != 0, events & POLLIN == 0 { state.withLock { $0.isDone = true } }
    }

    func finish() {
        let waiters: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.isDone = true
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        guard let waiters else { return }
        Glibc.close(descriptor)
        for waiter in waiters { waiter.resume() }
        handler.closed(self)
    }

    private func readOnce(isHungUp: Bool) {
        let outputs = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) {
            buffer -> [LineFramer.Output] in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else {
                if count == 0 || (errno != EAGAIN && errno != EINTR) { readNothing(isEnd: count == 0 && !isHungUp) }
                return []
            }
            return state.withLock { $0.framer.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        }
        for output in outputs {
            switch output {
            case .line(let line): handler.received(line, on: self)
            case .tooLong:
                state.withLock { $0.inputEnded = true }
                handler.overran(self)
            }
        }
    }

    /// - Parameter isEnd: the other side writes nothing more; else the connection is broken.
    private func readNothing(isEnd: Bool) {
        if isEnd {
            state.withLock { $0.inputEnded = true }
            handler.inputEnded(self)
        } else {
            state.withLock { $0.isDone = true }
        }
    }

    private func writeQueued() {
        while let (chunk, start) = state.withLock({ state in state.output.first.map { ($0, state.written) } }) {
            let count = write(chunk, from: start)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                guard count >= 0 else {
                    state.isDone = true
                    return []
                }
                return state.wrote(count, highWater: Self.highWater)
            }
            for waiter in waiters { waiter.resume() }
            if count < 0 { return }
        }
    }
}

extension MessageChannel.State {
    /// Accounts for written bytes; returns who may go on.
    fileprivate mutating func wrote(_ count: Int, highWater: Int) -> [CheckedContinuation<Void, Never>] {
        written += count
        queuedBytes -= count
        if let first = output.first, written >= first.count {
            output.removeFirst()
            written = 0
        }
        if output.isEmpty, closesWhenFlushed { isDone = true }
        guard queuedBytes <= highWater else { return [] }
        defer { waiters = [] }
        return waiters
    }
}
