import NIOCore
import NIOHTTP1
import QuireCore

/// Ends a request on whose connection nothing moves: one for each connection, on its event loop.
///
/// The HTTP client's own time-outs do not know what is on its way. This one asks the kernel, a few times in the longest
/// silence that is allowed, and only while there is a request.
final class SilenceWatch: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Tells how long the server may be at work on a request, in milliseconds. It is not sent.
    static let field = "Quire-Work-Time"
    private static let looks: Int64 = 8

    private let idle: TimeAmount
    private var request: RequestSilence?
    private var isReading = false
    private var hasGivenUp = false
    /// There while there is a request, and up to one look longer.
    private var timer: Scheduled<Void>?

    /// - Parameter idle: how long nothing may move.
    init(idle: Duration) { self.idle = TimeAmount(idle) }

    /// Puts one into a fresh connection of the HTTP client.
    static func add(to channel: any Channel, idle: Duration) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(SilenceWatch(idle: idle), position: .after(decoder))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var data = data
        switch unwrapOutboundIn(data) {
        case .head(var head):
            var workTime = Duration.zero
            if let text = head.headers.first(name: Self.field) {
                workTime = .milliseconds(Int(text) ?? 0)
                head.headers.remove(name: Self.field)
                data = wrapOutboundOut(.head(head))
            }
            request = RequestSilence(idle: idle, workTime: workTime, now: .now())
            if timer == nil { schedule(context) }
        case .body(let part): request?.sends(part.readableBytes)
        case .end:
            request?.sendsEnd()
            endIfOver()
        }
        context.write(data, promise: promise)
    }

    func read(context: ChannelHandlerContext) {
        isReading = true
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = false
        switch unwrapInboundIn(data) {
        case .head(let head):
            // The client stops a body whose request was not accepted.
            if head.status.code >= 200 { request?.getsHead(endsBody: head.status.code >= 300) }
        case .body: break
        case .end:
            request?.getsEnd()
            endIfOver()
        }
        context.fireChannelRead(data)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard hasGivenUp else { return context.close(mode: mode, promise: promise) }
        // Closed at once, what was not sent would fail before the request does, which then ended with that.
        context.eventLoop.assumeIsolated().execute { context.close(mode: mode, promise: promise) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    private func endIfOver() { if request?.isOver ?? false { request = nil } }

    private func stop() {
        request = nil
        timer?.cancel()
        timer = nil
    }

    private func schedule(_ context: ChannelHandlerContext) {
        let pause = TimeAmount.nanoseconds(idle.nanoseconds / Self.looks)
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in look(context) }
    }

    private func look(_ context: ChannelHandlerContext) {
        timer = nil
        guard request != nil else { return }
        if let counts = ConnectionCounts(context.channel) {
            let look = RequestSilence.Look(
                now: .now(), moved: counts.moved, isSending: counts.isSending, isReading: isReading)
            if let failure = request?.look(look) {
                request = nil
                hasGivenUp = true
                return context.fireErrorCaught(failure)
            }
        }
        schedule(context)
    }
}
