import CLinux
import Glibc
import NIOCore

/// What has moved on a connection, as the kernel knows it, and what is on its way.
struct ConnectionCounts {
    /// Bytes that the other side has acknowledged, and bytes that came from it, since the connection began.
    let moved: UInt64
    /// Whether bytes were handed over that it has not acknowledged.
    let isSending: Bool

    /// Asks the kernel, on the connection's event loop; nil where the connection is closed.
    init?(_ channel: any Channel) {
        guard let options = channel as? any SocketOptionProvider, let info = Self.info(options) else { return nil }
        moved = info.bytes_acked &+ info.bytes_received
        let held = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        isSending = held > 0 || info.unacked > 0 || info.notsent_bytes > 0
    }

    private static func info(_ options: any SocketOptionProvider) -> quire_tcp_info? {
        let answer: EventLoopFuture<quire_tcp_info> = options.unsafeGetSocketOption(
            level: .init(rawValue: Int32(IPPROTO_TCP)), name: .init(rawValue: TCP_INFO))
        var info: quire_tcp_info?
        // It is there already: this is the event loop.
        answer.assumeIsolated().whenSuccess { info = $0 }
        return info
    }

    /// Has the kernel ask whether the other side is still there when nothing moves for half of `idle`: while a server works
    /// nobody would notice otherwise that the way to it is gone, and boxes on the way would forget the connection.
    static func keepAlive(_ channel: any Channel, idle: Duration) throws {
        let seconds = Int(idle.components.seconds)
        try channel.syncOptions?.setOption(.socketOption(.so_keepalive), value: 1)
        for (name, value) in [
            (TCP_KEEPIDLE, max(1, seconds / 2)), (TCP_KEEPINTVL, max(1, seconds / 6)), (TCP_KEEPCNT, 3),
        ] {
            try channel.syncOptions?.setOption(.tcpOption(.init(rawValue: name)), value: value)
        }
    }
}
