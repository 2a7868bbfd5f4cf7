import QuireCore
import Glibc
import Synchronization
import Testing

@testable import QuireFilesystem

@Suite("The commit gate")
struct CommitGateTests {
    @Test("A commit never runs beside an operation")
    func excludesOperations() async {
        let gate = CommitGate()
        let inside = Counts()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for _ in 0..<2_000 {
                        if task == 0 {
                            gate.exclusive {
                                inside.state.withLock { if $0.operations > 0 || $0.commits > 0 { $0.violations += 1 } }
                                inside.state.withLock { $0.commits += 1 }
                                inside.state.withLock { $0.commits -= 1 }
                            }
                        } else {
                            gate.shared {
                                inside.state.withLock {
                                    if $0.commits > 0 { $0.violations += 1 }
                                    $0.operations += 1
                                }
                                inside.state.withLock { $0.operations -= 1 }
                            }
                        }
                    }
                }
            }
        }
        #expect(inside.state.withLock { $0.violations } == 0)
    }
}

private final class Counts: Sendable {
    let state = Lock((operations: 0, commits: 0, violations: 0))
}
