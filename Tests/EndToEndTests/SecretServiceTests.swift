import Foundation
import Testing

extension EndToEnd {
    @Suite("Secrets in a keyring", .timeLimit(.minutes(3)))
    struct SecretServiceTests {
        @Test(
            "An account whose secret is in a keyring works while that is unlocked, and says what it waits for",
            arguments: ServerTests.servers.filter { $0 != "moto" })
        func keyring(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await Workspace.use { workspace in
                let keyring = try workspace.directory("keyring")
                var drive = try await workspace.drive()
                drive.variables = [
                    "DBUS_SESSION_BUS_ADDRESS": "fake:\(keyring)",
                    "PATH": "\(Machine.programs)/secrets:\(Machine.environment("PATH") ?? "/usr/bin:/bin")",
                ]
                let added = try await drive.add(account, isDefault: true).require(0)
                #expect(added.errors.contains("the Secret Service keeps the secret"))
                try await drive.mount()
                try await drive.sh("echo one > doc")
                try await drive.sync()
                // In no file of the home, and in no program's arguments.
                #expect(try await workspace.sh("! grep -rl '\(StorageServers.secret)' '\(drive.home)'").isEmpty)
                #expect(try await workspace.sh("! grep '\(StorageServers.secret)' '\(keyring)/calls'").isEmpty)

                try await drive.unmount()
                try await workspace.sh("touch '\(keyring)/locked'")
                try await drive.mount()
                try await drive.sh("cat doc; echo two > doc")
                #expect(await drive.quire("sync", "--timeout", "20").status == 75)
                let status = try await drive.quire("status").require(0).output
                #expect(
                    status.contains("offline") && status.contains("keyring") && status.contains("locked"), "\(status)")
                try await workspace.sh("rm '\(keyring)/locked'")
                try await drive.sync()

                try await drive.quire("provider", "add", "else", "folder:\(workspace.root)/else", "--default").require(
                    0)
                try await drive.quire("provider", "remove", account.name).require(64)
                try await drive.unmount()
                try await drive.quire("provider", "remove", account.name).require(0)
                #expect(try await workspace.sh("ls '\(keyring)'") == "calls\n")
            }
        }
    }
}
