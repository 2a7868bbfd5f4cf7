import CLinux
import QuireCore
import QuireStore
import QuireTransport

/// Finds out who serves a home, waiting for a daemon that is just starting or just ending.
struct HomeStanding: Sendable {
    let location: HomeLocation
    /// How long a daemon may take to start or to end.
    var patience = Duration.seconds(20)

    private typealias Hello = DriveMethods.Hello.Result

    /// The daemon that serves the home; nil when nobody has it.
    ///
    /// - Throws: `.temporary` when a daemon holds the home and neither serves nor ends; `.notAllowed` for another user's.
    func daemon() async throws(QuireError) -> DriveMethods.Hello.Result? {
        let clock = SuspendingClock()
        let end = clock.now + patience
        while true {
            if let hello = try await greeted(until: end) { return hello }
            guard let owner = try owner() else { return nil }
            guard clock.now < end else { throw neitherServesNorEnds(owner) }
            // It may have begun to serve.
            await Self.waitForProcess(owner, milliseconds: 50)
        }
    }

    /// Whether some process has the home now.
    func isHeld() -> Bool { (try? owner()) != nil }

    /// What the daemon says, unless none answers or it is ending: then it is waited for.
    private func greeted(until end: SuspendingClock.Instant) async throws(QuireError) -> Hello? {
        let connection: DriveConnection
        do {
            connection = try DriveConnection(home: location.home)
        } catch {
            // That none listens is the ordinary case.
            guard error.code == .unavailable else { throw error }
            return nil
        }
        defer { connection.close() }
        // An ending daemon may close the connection without an answer.
        let answer = await withTaskGroup(of: Hello?.self) { race in
            race.addTask { try? await connection.call(DriveMethods.Hello.self) }
            race.addTask {
                try? await Task.sleep(until: end, clock: .suspending)
                return nil
            }
            let first = await race.next() ?? nil
            race.cancelAll()
            return first
        }
        guard let answer else { return nil }
        guard answer.stopping == true else { return answer }
        await withTaskGroup(of: Void.self) { race in
            race.addTask { await connection.waitUntilClosed() }
            race.addTask { try? await Task.sleep(until: end, clock: .suspending) }
            await race.next()
            race.cancelAll()
        }
        return nil
    }

    private func owner() throws(QuireError) -> Int32? {
        do throws(StoreError) {
            return try DriveHome(path: location.home).runningDaemon()
        } catch {
            throw QuireError(error)
        }
    }

    /// Returns when the process is gone, or when so much time is over.
    ///
    /// - Parameter process: 0 where it has not yet written who it is.
    static func waitForProcess(_ process: Int32, milliseconds: Int32) async {
        let waited = process > 0 ? (try? await Blocking.run { quire_wait_for_process(process, milliseconds) }) : nil
        if waited ?? -1 < 0 { try? await Task.sleep(for: .milliseconds(Int64(milliseconds))) }
    }

    private func neitherServesNorEnds(_ process: Int32) -> QuireError {
        QuireError(
            .temporary,
            "the drive in \(location.home) is held by the daemon with process id \(process), which neither serves nor ends",
            remedy: "See \(location.logPath); end it with `kill \(process)`")
    }
}
