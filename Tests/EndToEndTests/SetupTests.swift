import Foundation
import Testing

extension EndToEnd {
    @Suite("Providers and containers of a running drive", .timeLimit(.minutes(3)))
    struct SetupTests {
        @Test("Until the next mount the former default provider keeps the drive, and is not removed")
        func formerDefault() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let (notes, nas) = (try space.directory("notes"), try space.directory("nas"))
                try await drive.sh("for i in 1 2 3 4 5; do echo $i > f$i; done")
                try await drive.sync()
                try await drive.quire("provider", "add", "notes", "folder:\(notes)").require(0)
                try await drive.quire("container", "create", "com.x.Notes", "--name", "Notes", "--provider", "notes")
                    .require(0)
                try await drive.quire("provider", "add", "nas", "folder:\(nas)", "--default").require(0)
                let refused = await drive.quire("provider", "remove", "embedded")
                #expect(refused.status == 64 && refused.errors.contains("until the next mount"), "\(refused)")
                let second = await drive.quire("container", "create", "com.x.Old", "--provider", "embedded")
                #expect(second.status == 64 && second.errors.contains("until the next mount"), "\(second)")
                try await drive.sh("echo more > f6; echo note > Notes/note")
                try await drive.sync()
                #expect(try await drive.sh("cat f*") == "1\n2\n3\n4\n5\nmore\n")
                #expect(try await space.sh("ls notes; ls nas") == "note\n")
                #expect(try await space.sh("cat one.home/provider/f*") == "1\n2\n3\n4\n5\nmore\n")

                try await drive.unmount()
                try await drive.mount()
                try await drive.quire("provider", "remove", "embedded").require(0)
                try await drive.sync()
                #expect(try await space.sh("cat nas/f*; ls notes") == "1\n2\n3\n4\n5\nmore\nnote\n")
            }
        }
    }
}
