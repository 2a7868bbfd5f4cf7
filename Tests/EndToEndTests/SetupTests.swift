import Foundation
import Testing

extension EndToEnd {
    @Suite("Providers and containers of a running drive", .timeLimit(.minutes(3)))
    struct SetupTests {
        @Test("A folder in which a drive is mounted is no provider")
        func folderAroundDrive() async throws {
            try await Workspace.use { space in
                let (drive, inner) = (try await space.mounted(), try await space.mounted("around/inner"))
                let refused = await drive.quire("provider", "add", "big", "folder:\(space.root)/around")
                #expect(refused.errors.contains(inner.mountpoint))
                #expect(refused.status == 64 && refused.errors.contains("mounted in the folder"), "\(refused)")
            }
        }

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

        @Test("A directory becomes no container while content in it is with the present provider only")
        func datalessBelow() async throws {
            try await Workspace.use { space in
                let (shared, notes) = (try space.directory("shared"), try space.directory("notes"))
                let one = try await space.mounted("one", provider: shared)
                let two = try await space.mounted("two", provider: shared)
                try await one.sh("mkdir -p Notes/deep; echo text > Notes/deep/doc; echo x > file")
                for drive in [one, two] { try await drive.sync() }
                try await two.quire("provider", "add", "notes", "folder:\(notes)").require(0)
                let create = ["container", "create", "com.x.Notes", "--name", "Notes", "--provider", "notes"]
                let refused = await two.quire(create)
                #expect(refused.status == 64 && refused.errors.contains("quire download Notes"), "\(refused)")
                let file = await two.quire("container", "create", "com.x.File", "--name", "file", "--provider", "notes")
                #expect(file.status == 64 && file.errors.contains("no directory"), "\(file)")
                try await two.unmount()
                #expect(await two.quire(create).status == 64)
                #expect(await two.quire("container", "create", "com.x.File", "--name", "file").status == 64)
                try await two.mount()
                try await two.sync()
                #expect(try await two.sh("cat Notes/deep/doc") == "text\n")
                #expect(!(try await two.quire("container", "list").require(0).output.contains("com.x")))
                #expect(try await space.sh("cat shared/Notes/deep/doc; ls notes") == "text\n")

                try await two.quire(create).require(0)
                try await two.sync()
                #expect(try await space.sh("cat notes/deep/doc shared/Notes/deep/doc") == "text\ntext\n")
                try await one.sync()
                #expect(try await one.sh("cat Notes/deep/doc") == "text\n")
            }
        }

        @Test("A container whose provider cannot be used is not made; its directory stays where it was")
        func unusableProvider() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir Notes; echo text > Notes/doc")
                try await drive.sync()
                try await space.sh(
                    """
                    printf '\\n[[provider]]\\nname = "cloud"\\nurl = "webdav+http://ada@127.0.0.1:9/files"\\n' \
                    >> one.home/config.toml
                    mkdir -p one.home/secrets; echo word > one.home/secrets/cloud; chmod 644 one.home/secrets/cloud
                    """)
                let refused = await drive.quire(
                    "container", "create", "com.x.Notes", "--name", "Notes", "--provider", "cloud")
                #expect(refused.status != 0 && refused.errors.contains("secrets/cloud"), "\(refused)")
                try await drive.sh("echo more > Notes/more")
                try await drive.sync()
                #expect(try await space.sh("cat one.home/provider/Notes/*") == "text\nmore\n")
                #expect(!(try await drive.quire("container", "list").require(0).output.contains("com.x")))
            }
        }
    }
}
