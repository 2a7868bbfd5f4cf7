import Glibc
package import QuireCore
import Synchronization

/// One thread that reads and writes all sockets of a process: nothing else here ever blocks on a socket.
///
/// Handlers are called on that thread and must return soon. Sockets are non-blocking and owned by the loop, which closes
/// them.
package final class MessageLoop: Sendable {
    private struct State {
        var channels: [MessageChannel] = []
        var listeners: [MessageListener] = []
        var endsListening = false
        var isStopping = false
        var isStopped = false
    }

    // Taken alone, never together with a channel's lock.
    private let state = Lock(State())
    // Both ends of a pipe: a byte in it wakes the thread.
    private let wakeDescriptor: Int32
    private let wakingDescriptor: Int32

    /// Starts the thread.
    package init() throws(QuireError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw QuireError(.failed, "no pipe: \(String(cString: strerror(errno)))") }
        for end in ends { SocketAddress.prepare(end) }
        (wakeDescriptor, wakingDescriptor) = (ends[0], ends[1])
        try OwnedThread.start(name: "quire-socket") { self.run() }
    }

    /// Ends the thread, closes every socket. Answers that are queued are written as far as the sockets take them.
    package func stop() {
        state.withLock { $0.isStopping = true }
        wake()
    }

    /// Serves a connected socket from now on.
    ///
    /// - Parameter handler: kept until the channel is closed.
    package func attach(_ descriptor: Int32, handler: some MessageHandler) -> MessageChannel {
        let channel = MessageChannel(descriptor: descriptor, loop: self, handler: handler)
        let isLate = state.withLock { state in
            if !state.isStopped { state.channels.append(channel) }
            return state.isStopped
        }
        isLate ? channel.finish() : wake()
        return channel
    }

    /// Accepts on a listening socket from now on.
    package func listen(_ listener: MessageListener) {
        let isLate = state.withLock { state in
            if !state.isStopped { state.listeners.append(listener) }
            return state.isStopped
        }
        isLate ? listener.close() : wake()
    }

    /// Accepts no more clients; connections stay.
    package func stopListening() {
        state.withLock { $0.endsListening = true }
        wake()
    }

    /// Makes the thread look at its channels anew.
    func wake() {
        var byte: UInt8 = 1
        // Fails only when the pipe is full, and then the thread is awake anyway.
        _ = write(wakingDescriptor, &byte, 1)
    }

    private func run() {
        while true {
            let (channels, listeners, isStopping) = state.withLock { ($0.channels, $0.listeners, $0.isStopping) }
            if isStopping { return finish(channels, listeners) }
            if closeListeners() { continue }
            var polled = [pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)]
            polled += listeners.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            polled += channels.map { pollfd(fd: $0.descriptor, events: $0.interest, revents: 0) }
            guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            if polled[0].revents != 0 { drainWake() }
            for (index, listener) in listeners.enumerated() where polled[1 + index].revents != 0 {
                listener.acceptAll(clients: channels.count)
            }
            let first = 1 + listeners.count
            for (index, channel) in channels.enumerated() { channel.serve(polled[first + index].revents) }
            let closed = Set(channels.filter(\.isDone).map(ObjectIdentifier.init))
            guard !closed.isEmpty else { continue }
            state.withLock { state in state.channels.removeAll { closed.contains(ObjectIdentifier($0)) } }
            for channel in channels where closed.contains(ObjectIdentifier(channel)) { channel.finish() }
        }
    }

    private func closeListeners() -> Bool {
        let ended = state.withLock { state -> [MessageListener] in
            guard state.endsListening else { return [] }
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in ended { listener.close() }
        return !ended.isEmpty
    }

    private func drainWake() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(wakeDescriptor, &bytes, bytes.count) == bytes.count {}
    }

    private func finish(_ channels: [MessageChannel], _ listeners: [MessageListener]) {
        for listener in listeners { listener.close() }
        for channel in channels {
            channel.serve(Int16(POLLOUT))
            channel.finish()
        }
        let late = state.withLock { state in
            state.isStopped = true
            let late = state.channels
            state.channels = []
            state.listeners = []
            return late
        }
        for channel in late { channel.finish() }
    }

    deinit {
        close(wakeDescriptor)
        close(wakingDescriptor)
    }
}
