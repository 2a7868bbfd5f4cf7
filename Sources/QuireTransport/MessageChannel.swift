import CLinux
import Glibc
import QuireCore
import Synchronization

/// What is told of a channel, in order, on one thread at a time: the loop's, or that of whoever reads in its place.
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

/// One socket of a `MessageLoop`. All methods may be called from any thread; only `read(after:until:)` blocks, shortly.
package final class MessageChannel: Sendable {
    /// Who reads, and calls the handler.
    fileprivate enum Reader { case nobody, loop, caller }

    fileprivate struct State {
        /// Whether the loop waits for the socket, and for which events.
        var awaited: Int32?
        var reader = Reader.nobody
        /// Of callers.
        var window = SpinWindow(atMost: MessageChannel.patience)
        var framer = LineFramer()
        var output: [[UInt8]] = []
        /// Bytes of `output[0]` that are written.
        var written = 0
        var queuedBytes = 0
        /// See `MessageLoop.attach`.
        let unreadLimit: Int
        var inputEnded = false
        var closesWhenFlushed = false
        var isDone = false
        var isFinished = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Above this many queued bytes `send` of long answers waits.
    private static let highWater = 1 << 20

    /// How many nanoseconds a caller reads in the loop's place: several times what an answer at once takes, and too short for
    /// anything else that the thread is for.
    private static let patience = 200_000

    private let descriptor: Int32
    /// What the loop calls it.
    let number: UInt64
    // Taken alone; handlers are called outside.
    private let state: Lock<State>
    private let loop: MessageLoop
    private let readiness: Readiness
    private let handler: any MessageHandler

    init(
        descriptor: Int32, number: UInt64, loop: MessageLoop, readiness: Readiness, handler: some MessageHandler,
        unreadLimit: Int
    ) {
        self.state = Lock(State(unreadLimit: unreadLimit))
        self.descriptor = descriptor
        self.number = number
        self.loop = loop
        self.readiness = readiness
        self.handler = handler
    }

    /// Writes bytes as far as the socket takes them now, and queues the rest; dropped when the channel is closed.
    package func send(_ bytes: [UInt8]) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard !state.isDone, !state.isFinished, !state.closesWhenFlushed else { return [] }
            let isFirst = state.output.isEmpty
            state.output.append(bytes)
            state.queuedBytes += bytes.count
            guard isFirst else {
                awaitEvents(&state)
                return []
            }
            // Open as long as the channel is not marked as finished. What fails here fails in the loop, too.
            let count = write(bytes, from: 0)
            let waiters = count > 0 ? state.wrote(count, highWater: Self.highWater) : []
            awaitEvents(&state)
            return waiters
        }
        for waiter in waiters { waiter.resume() }
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

    /// Closes at once, or when what is queued has been written.
    package func close(flushing: Bool = true) {
        let isDone = state.withLock { state in
            state.closesWhenFlushed = true
            if !flushing || state.output.isEmpty { state.isDone = true }
            awaitEvents(&state)
            return state.isDone
        }
        if isDone { loop.close(self) }
    }

    /// Reads on the calling thread, in the loop's place, until `isEnough` or for `patience`: an answer that comes at once
    /// needs no other thread then. Where another thread reads it does not.
    ///
    /// - Parameters:
    ///   - start: sends what is to be answered; the loop would be awake already if this thread read only from then on.
    ///   - isEnough: asked before each wait.
    package func read<Value>(after start: () -> Value, until isEnough: () -> Bool) -> Value {
        let reads = begin(.caller)
        let value = start()
        guard reads else { return value }
        var window = state.withLock { $0.window }
        let asked = MonotonicClock.now()
        var waited = 0
        while !isEnough(), waited < Self.patience, state.withLock({ $0.mayRead }) {
            let sleeps = waited > window.nanoseconds
            let events = Int32(quire_wait_for_input(descriptor, sleeps ? Self.patience - waited : 0))
            waited = MonotonicClock.now() - asked
            if sleeps { window.slept(events == 0 ? .max : waited) }
            handle(events)
        }
        state.withLock { $0.window = window }
        endReading()
        return value
    }

    // MARK: For the loop

    /// Has the loop wait for the socket.
    func begin() {
        let isDone = state.withLock { state in
            guard !state.isFinished else { return false }
            do throws(QuireError) {
                let events = state.events
                try readiness.add(descriptor, number: number, events)
                state.awaited = events
            } catch {
                // The other side learns of it as of any end.
                state.isDone = true
            }
            return state.isDone
        }
        if isDone { loop.close(self) }
    }

    /// Has the loop wait for what is of interest now.
    private func awaitEvents(_ state: inout State) {
        guard let awaited = state.awaited, state.events != awaited else { return }
        state.awaited = state.events
        readiness.change(descriptor, number: number, state.events)
    }

    /// On the loop's thread.
    func serve(_ events: Int32) {
        guard begin(.loop) else {
            // Whoever reads finds out about hang-ups.
            if events & POLLOUT != 0 { writeQueued() }
            return endWriting()
        }
        handle(events)
        endReading()
    }

    private func begin(_ reader: Reader) -> Bool {
        state.withLock { state in
            guard state.reader == .nobody, !state.isFinished, reader == .loop || state.mayRead else { return false }
            state.reader = reader
            awaitEvents(&state)
            return true
        }
    }

    private func endReading() {
        state.withLock { $0.reader = .nobody }
        endWriting()
    }

    private func endWriting() {
        let isDone = state.withLock { state in
            awaitEvents(&state)
            return state.isDone
        }
        if isDone { loop.close(self) }
    }

    private func handle(_ events: Int32) {
        if events & POLLIN != 0 { readOnce(isHungUp: events & (POLLHUP | POLLERR) != 0) }
        if events & POLLOUT != 0 { writeQueued() }
        if events & (POLLHUP | POLLERR | POLLNVAL) != 0, events & POLLIN == 0 { state.withLock { $0.isDone = true } }
    }

    /// Closes the socket, unless a caller reads it: that has it closed then.
    func finish() {
        let waiters: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            state.isDone = true
            guard !state.isFinished, state.reader == .nobody else { return nil }
            state.isFinished = true
            if state.awaited != nil { readiness.remove(descriptor) }
            state.awaited = nil
            defer { state.waiters = [] }
            return state.waiters
        }
        guard let waiters else { return }
        Glibc.close(descriptor)
        for waiter in waiters { waiter.resume() }
        handler.closed(self)
    }

    // MARK: Reading and writing

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
    /// Whether input is of interest.
    fileprivate var mayRead: Bool {
        queuedBytes <= unreadLimit && !inputEnded && !closesWhenFlushed && !isDone && !isFinished
    }

    /// What the loop is to wait for.
    fileprivate var events: Int32 { (mayRead && reader != .caller ? POLLIN : 0) | (output.isEmpty ? 0 : POLLOUT) }

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
