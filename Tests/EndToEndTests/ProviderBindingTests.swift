import Foundation
import Testing

extension EndToEnd {
    /// Which provider keeps a drive, and which store that is, however configuration, index and disks come and go.
    @Suite("Provider binding", .timeLimit(.minutes(5)))
    struct ProviderBindingTests {
        @Test("A home whose configuration is gone is refused with what brings it back; nothing is made in its place")
        func lostConfiguration() async throws {
            try await Workspace.use { space in
                let shared = "\(space.root)/shared"
                let drive = try await space.mounted(provider: shared)
                try await drive.sh("echo x > f")
                try await drive.sync()
                try await drive.unmount()
                try await space.sh("rm one.home/config.toml")
                let commands = [
                    ["mount", drive.mountpoint], ["mount", "-f", drive.mountpoint], ["status"], ["provider", "list"],
                    ["provider", "add", "other", "folder:\(space.root)/other", "--default"],
                ]
                let remedy = "install -D -m 600 \(drive.home)/config.toml.last \(drive.home)/config.toml"
                for command in commands {
                    let outcome = await drive.quire(command)
                    #expect(outcome.status == 69, "\(command): \(outcome)")
                    #expect(outcome.errors.contains("\(drive.home)/config.toml is missing"), "\(outcome.errors)")
                    #expect(outcome.errors.contains(remedy), "\(outcome.errors)")
                }
                #expect(!FileManager.default.fileExists(atPath: "\(drive.home)/config.toml"))
                try await space.sh(remedy)
                try await drive.mount()
                try await drive.sync()
                try await drive.sh("echo y > g")
                try await drive.sync()
                try await expectProviderMatches(drive, at: shared)
                #expect(try await space.sh("ls one.home/provider") == "")
            }
        }
    }
}
