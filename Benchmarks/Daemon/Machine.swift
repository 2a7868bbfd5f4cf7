import QuireCoordination
import QuireCore

/// What claims cost inside the daemon.
enum Machine {
    /// Claim and release with nobody in the way, nanoseconds for both.
    static func uncontended(presenters: Int) throws -> Double {
        let coordinator = Coordinator()
        for number in 0..<presenters {
            let presenter = PresenterRegistration(
                id: PresenterID(0), client: ClientID(1),
                path: RelativePath([FileName("other \(number)")].compactMap(\.self)), purpose: Purpose("p"))
            _ = coordinator.register(presenter, link: NoLink())
        }
        let path: RelativePath = "notes/2026/a document.txt"
        // Short rounds: some of them find the core to themselves.
        let count = 10_000
        let time = try best(of: 100) {
            for _ in 0..<count {
                guard let claim = try coordinator.tryAcquire([.writing(path)], purpose: Purpose("app")) else {
                    throw QuireError(.conflict, "a claim waits though nobody is in its way")
                }
                coordinator.release(claim)
            }
        }
        return time / Double(count)
    }

    /// What every call of a plain program pays while nobody coordinates, nanoseconds.
    static func looking() -> Double {
        let coordinator = Coordinator()
        var active = 0
        let count = 100_000
        let time = best(of: 20) { for _ in 0..<count where coordinator.isActive { active += 1 } }
        return (time + Double(active)) / Double(count)
    }

    /// `count` writers queue for one item and are served, nanoseconds altogether.
    static func queued(_ count: Int) -> Double {
        best(of: 5) {
            var machine = CoordinationMachine()
            for number in 0..<count {
                _ = machine.request(
                    AccessRequest(
                        ClaimRequest(
                            id: ClaimID(UInt64(number)), accesses: [.writing("a")], purpose: Purpose("p\(number)"))))
            }
            for number in 0..<count { _ = machine.release(ClaimID(UInt64(number))) }
            precondition(machine.isEmpty)
        }
    }

    /// A presenter that is never called here.
    private struct NoLink: PresenterLink {
        func ask(_ question: QuestionID, of presenter: PresenterID, _ content: PresenterQuestion, timeout: Duration) {}
        func tell(_ presenter: PresenterID, _ message: PresenterMessage) {}
        func passedOver(_ presenter: PresenterID, _ question: PresenterQuestion) {}
    }
}
