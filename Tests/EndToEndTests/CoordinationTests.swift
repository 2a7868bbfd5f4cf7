import Foundation
import Testing

extension EndToEnd {
    /// Apps that coordinate, from other processes, against each other and against programs that know nothing of it.
    @Suite("Coordination", .timeLimit(.minutes(5)))
    struct CoordinationTests {
        @Test("Apps over the socket and shell tools on the mount meet as the tables say")
        func socketAndShell() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let editor = "\(Machine.programs)/../../../Examples/editor.py"
                let output = try await drive.python(
                    "coordination.py", [drive.binary, drive.home, drive.mountpoint, editor], limitSeconds: 200
                ).succeed()
                #expect(output.split(separator: "\n").count == 5, "\(output)")
            }
        }
    }
}
