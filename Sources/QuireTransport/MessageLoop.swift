import CLinux
import Glibc
package import QuireCore
import Synchronization

/// One thread that reads and writes all sockets of a process: nothing else here ever blocks on a socket. While messages come
/// in quick succession it does not sleep between them (`SpinWindow`).
///
/// Handlers are called on that thread, or on one that reads a channel in its place (`MessageChannel.read(after:until:)`), and must
/// return soon. Sockets are non-blocking and owned by the loop, which closes them.
package final class MessageLoop: Sendable {
    private struct State {
        var channels: [UInt64: MessageChannel] = [:]
        var listeners: [UInt64: MessageListener] = [:]
        /// Channels that are to be closed.
        var done: [MessageChannel] = []
        /// 0 is the descriptor that wakes the thread.
        var nextNumber: UInt64 = 1
        var endsListening = false
        var isStopping = false
        var isStopped = false
    }

    // Taken alone, never together with a channel's lock.
    private let state = Lock(State())
    private let readiness: Readiness
    // Both ends of a pipe: a byte in it wakes the thread.
    private let wakeDescriptor: Int32
    private let wakingDescriptor: Int32

    /// Starts the thread.
    package init() throws(QuireError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw QuireError(.failed, "no pipe: \(String(cString: strerror(errno)))") }
        for end in ends { SocketAddress.prepare(end) }
        (wakeDescriptor, wakingDescriptor) = (ends[0], ends[1])
        do {
            readiness = try Readiness()
            try readiness.add(wakeDescriptor, number: 0, Int32(POLLIN))
        } catch {
            for end in ends { Glibc.close(end) }
            throw error
        }
        try OwnedThread.start(name: "quire-socket") { self.run() }
    }

    /// Ends the thread, closes every socket. Answers that are queued are written as far as the sockets take them.
    package func stop() {
        state.withLock { $0.isStopping = true }
        wake()
    }

    /// Serves a connected socket from now on.
    ///
    /// - Parameters:
    ///   - handler: kept until the channel is closed.
    ///   - unreadLimit: while more bytes than that wait to be written, nothing is read.
    package func attach(
        _ descriptor: Int32, handler: some MessageHandler, unreadLimit: Int = .max
    ) -> MessageChannel {
        let number = nextNumber()
        let channel = MessageChannel(
            descriptor: descriptor, number: number, loop: self, readiness: readiness, handler: handler,
            unreadLimit: unreadLimit)
        let isLate = state.withLock { state in
            if !state.isStopped { state.channels[number] = channel }
            return state.isStopped
        }
        isLate ? channel.finish() : channel.begin()
        return channel
    }

    /// Accepts on a listening socket from now on.
    ///
    /// - Throws: where the kernel cannot wait for one more; it is closed then.
    package func listen(_ listener: MessageListener) throws(QuireError) {
        let number = nextNumber()
        let isLate = state.withLock { state in
            if !state.isStopped { state.listeners[number] = listener }
            return state.isStopped
        }
        guard !isLate else { return listener.close() }
        do {
            try readiness.add(listener.descriptor, number: number, Int32(POLLIN))
        } catch {
            state.withLock { $0.listeners[number] = nil }
            listener.close()
            throw error
        }
    }

    /// Accepts no more clients; connections stay.
    package func stopListening() {
        state.withLock { $0.endsListening = true }
        wake()
    }

    /// Has a channel closed that nothing more is to be done with. Any thread.
    func close(_ channel: MessageChannel) {
        let isLate = state.withLock { state in
            if !state.isStopped { state.done.append(channel) }
            return state.isStopped
        }
        isLate ? channel.finish() : wake()
    }

    private func nextNumber() -> UInt64 {
        state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
    }

    private func wake() {
        var byte: UInt8 = 1
        // Fails only when the pipe is full, and then the thread is awake anyway.
        _ = write(wakingDescriptor, &byte, 1)
    }

    // MARK: The thread

    private func run() {
        var window = SpinWindow()
        var idleSince = MonotonicClock.now()
        while true {
            if state.withLock({ $0.isStopping }) { return finish() }
            closeListeners()
            closeChannels()
            let sleeps = MonotonicClock.now() - idleSince > window.nanoseconds
            let hasServed = readiness.serve(sleeping: sleeps) {
                window.slept(MonotonicClock.now() - idleSince)
            } _: { number, events in
                serve(number, events)
            }
            if hasServed { idleSince = MonotonicClock.now() }
        }
    }

    private func serve(_ number: UInt64, _ events: Int32) {
        if number == 0 { return drainWake() }
        let (channel, listener, clients) = state.withLock { state in
            (state.channels[number], state.listeners[number], state.channels.count)
        }
        channel?.serve(events)
        listener?.acceptAll(clients: clients)
    }

    private func closeListeners() {
        let ended = state.withLock { state -> [UInt64: MessageListener] in
            guard state.endsListening else { return [:] }
            defer { state.listeners = [:] }
            return state.listeners
        }
        for listener in ended.values {
            readiness.remove(listener.descriptor)
            listener.close()
        }
    }

    private func closeChannels() {
        let done = state.withLock { state in
            for channel in state.done { state.channels[channel.number] = nil }
            defer { state.done = [] }
            return state.done
        }
        for channel in done { channel.finish() }
    }

    private func drainWake() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(wakeDescriptor, &bytes, bytes.count) == bytes.count {}
    }

    private func finish() {
        let (channels, listeners) = state.withLock { ($0.channels, $0.listeners) }
        for listener in listeners.values { listener.close() }
        for channel in channels.values {
            channel.serve(Int32(POLLOUT))
            channel.finish()
        }
        // Whoever comes from now on is turned away, and whoever reads a channel closes it.
        let late = state.withLock { state in
            state.isStopped = true
            defer { (state.channels, state.listeners, state.done) = ([:], [:], []) }
            return Array(state.channels.values) + state.done
        }
        for channel in late { channel.finish() }
    }

    deinit {
        Glibc.close(wakeDescriptor)
        Glibc.close(wakingDescriptor)
    }
}
