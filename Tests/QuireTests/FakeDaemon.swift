import Foundation
import QuireCore
import QuireTransport
import Synchronization

@testable import Quire

/// A daemon made of a script: it answers what the library asks and asks what a test says, on a plain directory.
final class FakeDaemon: Sendable {
    /// What a test decides about one request: a result, or nil to answer later or never.
    typealias Script = @Sendable (RPCIncoming, RPCPeer) -> (any Codable & Sendable)?

    let home: String
    let mountpoint: URL
    private let loop: MessageLoop
    private struct State {
        var peers: [RPCPeer] = []
        var script: Script?
        var asked: [String] = []
        var next: UInt64 = 1
    }
    private let state = Lock(State())
    private let requests = AsyncStream.makeStream(of: String.self)

    init(protocolVersion: Int = 1, script: Script? = nil) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "quire-fake-\(UUID().uuidString)").path
        let resolved = (realPath("/tmp") ?? "/tmp") + "/" + (root as NSString).lastPathComponent
        home = resolved + "/home"
        mountpoint = URL(filePath: resolved + "/mount", directoryHint: .isDirectory)
        for path in [home, mountpoint.path] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        loop = try MessageLoop()
        state.withLock { $0.script = script }
        let listener = try MessageListener(
            directory: home, name: DriveSocket.name, limit: 10, refuse: { _ in [] },
            accepted: { [weak self, loop] descriptor, _ in
                let peer = RPCPeer(
                    takeRequest: { [weak self] in self?.take($0, $1, protocolVersion) }, whenClosed: {})
                self?.state.withLock { $0.peers.append(peer) }
                peer.attach(descriptor, to: loop)
            })
        try loop.listen(listener)
    }

    deinit {
        loop.stop()
        // A directory below /tmp of this test's own.
        try? FileManager.default.removeItem(atPath: (home as NSString).deletingLastPathComponent)
    }

    /// Makes the mount known, as a first look at a drive does.
    func connect() async throws -> Drive { try await Drive.running(home: home) }

    /// A document, made.
    func document(_ name: String, _ text: String = "text") throws -> URL {
        let url = mountpoint.appending(path: name)
        try Data(text.utf8).write(to: url)
        return url
    }

    /// Asks the library, by the newest connection.
    func ask(_ call: PresenterMethods.Call.Parameters) async throws -> PresenterMethods.Call.Result {
        guard let peer = state.withLock({ $0.peers.last }) else { throw CocoaError(.fileNoSuchFile) }
        return try await peer.call(PresenterMethods.Call.self, call)
    }

    var peer: RPCPeer? { state.withLock { $0.peers.last } }

    /// Ends all connections.
    func hangUp() {
        let peers = state.withLock { state in
            defer { state.peers = [] }
            return state.peers
        }
        for peer in peers { peer.close() }
    }

    /// The methods that were asked for so far.
    var asked: [String] { state.withLock { $0.asked } }

    /// Returns once `method` has been asked for, now or before, so many times.
    func heard(_ method: String, times: Int = 1) async {
        if asked.filter({ $0 == method }).count >= times { return }
        for await _ in requests.stream where asked.filter({ $0 == method }).count >= times { return }
    }

    private func take(_ request: RPCIncoming, _ peer: RPCPeer, _ version: Int) {
        let (script, number) = state.withLock { state -> (Script?, UInt64) in
            state.asked.append(request.method)
            state.next += 1
            return (state.script, state.next)
        }
        defer { requests.continuation.yield(request.method) }
        if let script {
            guard let answer = script(request, peer) else { return }
            if !(answer is Standard) { return peer.answer(request.id, with: answer) }
        }
        switch request.method {
        case DriveMethods.Hello.name:
            peer.answer(
                request.id,
                with: DriveMethods.Hello.Result(
                    version: "test", protocolVersion: version, pid: 1, mountpoint: mountpoint.path))
        case CoordinationMethods.Acquire.name, CoordinationMethods.Prepare.name:
            let parameters = try? request.parameters(CoordinationMethods.Acquire.Parameters.self)
            peer.answer(
                request.id,
                with: CoordinationMethods.Acquire.Result(
                    claim: number, paths: (parameters?.accesses ?? []).map(\.path)))
        case PresenterMethods.Add.name:
            let parameters = try? request.parameters(PresenterMethods.Add.Parameters.self)
            peer.answer(
                request.id, with: PresenterMethods.Add.Result(presenter: number, purpose: parameters?.purpose ?? ""))
        case CoordinationMethods.DidMove.name:
            let parameters = try? request.parameters(CoordinationMethods.DidMove.Parameters.self)
            peer.answer(
                request.id, with: CoordinationMethods.DidMove.Result(paths: parameters.map { [$0.to] } ?? []))
        case VersionMethods.Conflicts.name: peer.answer(request.id, with: VersionMethods.Conflicts.Result(count: 0))
        case ItemMethods.Download.name: peer.answer(request.id, with: ItemMethods.ContentOutcome())
        default: peer.answer(request.id, with: WireNothing())
        }
    }

    /// Says that a script leaves a request to the fake.
    struct Standard: Codable, Sendable {}
}
