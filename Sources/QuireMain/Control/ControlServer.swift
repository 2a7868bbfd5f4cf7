import Glibc
import Logging
import QuireCore
import QuireTransport
import ServiceLifecycle
import Synchronization

/// Serves the control socket: one thread for all sockets, a task for each request that may have to wait.
///
/// At a graceful shutdown the socket goes, requests under way are cancelled and still answered; connections stay until
/// `close` or the end of the process, so that a client knows when the daemon is really gone.
final class ControlServer: Service {
    private final class Running: Sendable {
        private let value = Atomic<Bool>(false)

        var isRunning: Bool { value.load(ordering: .relaxed) }

        func set(_ isRunning: Bool) { value.store(isRunning, ordering: .relaxed) }
    }

    private struct Client: Sendable {
        let peer: RPCPeer
        let session: ClientSession
    }

    private let home: String
    private let methods: MethodTable
    private let logger: Logger
    private let loop: MessageLoop
    private let clients: AsyncStream<Client>
    private let accepted: AsyncStream<Client>.Continuation
    /// Whether requests are answered.
    private let running = Running()

    /// Listens in `home` from now on; requests are answered once `run` is called.
    ///
    /// - Parameter clientLimit: most clients at one time.
    init(
        home: String, methods: MethodTable, logger: Logger, clientLimit: Int = WireLimits.clients
    ) throws(QuireError) {
        self.home = home
        self.methods = methods
        self.logger = logger
        loop = try MessageLoop()
        (clients, accepted) = AsyncStream.makeStream(of: Client.self)
        let listener = try MessageListener(
            directory: home, name: DriveSocket.name, limit: clientLimit,
            refuse: { error in
                // An error of fixed text always has a form in JSON.
                (try? WireCodec.line(RPCFailure(id: nil, error: RPCError(error)))) ?? []
            },
            accepted: { [loop, accepted, running] descriptor, credentials in
                let session = ClientSession(pid: credentials.pid)
                let peer = RPCPeer(
                    answersRequests: true, lane: methods.lane,
                    atOnce: { request, peer in
                        guard running.isRunning, let answer = methods.answerAtOnce(request, session) else {
                            return false
                        }
                        Self.send(answer, to: request, of: peer, logger)
                        return true
                    }, whenClosed: { session.close() })
                session.attach(peer)
                peer.attach(descriptor, to: loop)
                accepted.yield(Client(peer: peer, session: session))
            })
        try loop.listen(listener)
    }

    /// Answers until the task is cancelled or the service group shuts down.
    func run() async {
        running.set(true)
        // A request may be waiting for a provider.
        await runUntilShutdown("a request", logger) {
            await withTaskCancellationHandler {
                await withDiscardingTaskGroup { group in
                    for await client in self.clients { group.addTask { await self.serve(client) } }
                    group.cancelAll()
                }
            } onCancel: {
                self.stop()
            }
        }
        loop.stopListening()
        unlink("\(home)/\(DriveSocket.name)")
    }

    private func stop() {
        running.set(false)
        accepted.finish()
    }

    /// Closes all connections.
    func close() { loop.stop() }

    private func serve(_ client: Client) async {
        await withDiscardingTaskGroup { group in
            for await request in client.peer.requests {
                group.addTask { await self.answer(request, of: client) }
            }
        }
        if !Task.isCancelled { client.peer.close() }
    }

    /// Runs one request beside the wait for its cancellation.
    private func answer(_ request: RPCIncoming, of client: Client) async {
        let context = CallContext(client: client.session) { await client.peer.sendPartial($0, of: request.id) }
        let answer = await withTaskGroup(of: Result<MethodTable.Value, RPCError>?.self) { race in
            race.addTask {
                do throws(RPCError) {
                    return .success(try await self.methods.answer(request, context))
                } catch {
                    return .failure(error)
                }
            }
            race.addTask {
                await request.cancelled.wait()
                return nil
            }
            var answer: Result<MethodTable.Value, RPCError>?
            for await outcome in race {
                race.cancelAll()
                answer = answer ?? outcome
            }
            return answer
        }
        let cancelled = RPCError(code: RPCError.cancelled, message: "cancelled")
        Self.send(answer ?? .failure(cancelled), to: request, of: client.peer, logger)
    }

    private static func send(
        _ answer: Result<MethodTable.Value, RPCError>, to request: RPCIncoming, of peer: RPCPeer, _ logger: Logger
    ) {
        switch answer {
        case .success(let value): peer.answer(request.id, with: value)
        case .failure(let error):
            logger.debug("request refused", metadata: ["method": "\(request.method)", "error": "\(error.message)"])
            peer.answer(request.id, with: error)
        }
    }
}
