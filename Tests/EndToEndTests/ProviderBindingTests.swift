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

        @Test("At another URL a provider may be another store, whatever it is called")
        func changedURL() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted(provider: "\(space.root)/shared")
                try await drive.sh("echo x > f; mkdir d; echo y > d/g")
                try await drive.sync()
                try await drive.unmount()
                let other = try space.directory("other")
                try rebind(drive, to: other)
                try await drive.mount()
                try await drive.sync()
                try await expectProviderMatches(drive, at: other)
                // Removed and added elsewhere under its name, it is no more the former.
                let third = try space.directory("third")
                try await drive.quire("provider", "add", "more", "folder:\(third)").require(0)
                try await drive.quire("provider", "remove", "more").require(0)
                try await drive.quire("provider", "add", "more", "folder:\(try space.directory("fourth"))", "--default")
                    .require(0)
                try await drive.unmount()
                try await drive.mount()
                try await drive.sync()
                try await expectProviderMatches(drive, at: "\(space.root)/fourth")
            }
        }

        @Test(
            "With its index built anew a drive takes no empty folder for the store that it knew",
            arguments: ["by this version", "by an earlier version", "by one that was not started again"])
        func rebuiltIndex(known: String) async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted(provider: "\(space.root)/shared")
                try await drive.sh("echo x > f")
                try await drive.sync()
                try await drive.unmount()
                if known != "by this version" {
                    try await space.sh(Self.asEarlier("shared", isBound: known == "by an earlier version"))
                    try await space.sh("mv shared unplugged; mkdir shared")
                    try await drive.quire("check", "--provider").require(75)
                    #expect(try await space.sh("ls -A shared; rmdir shared; mv unplugged shared") == "")
                    try await drive.mount()
                    try await drive.unmount()
                }
                try await space.sh("rm one.home/index.sqlite*; mv shared unplugged; mkdir shared")
                try await drive.mount()
                let outcome = try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                #expect(outcome.errors.contains("shared"), "\(outcome.errors)")
                #expect(try await space.sh("ls -A shared") == "")
                try await space.sh("rmdir shared; mv unplugged shared")
                try await drive.sync()
                try await expectProviderMatches(drive, at: "\(space.root)/shared")
            }
        }

        @Test(
            "In a folder that was emptied on purpose a drive begins anew, with documents and without",
            arguments: [0, 1])
        func begunAnew(documents: Int) async throws {
            try await Workspace.use { space in
                let shared = "\(space.root)/shared"
                let drive = try await space.mounted(provider: shared)
                for number in 0..<documents { try await drive.sh("echo x > f\(number)") }
                try await drive.sync()
                try await drive.unmount()
                try await space.sh("rm -rf shared; mkdir shared")
                try await drive.mount()
                try await drive.quire("sync", "--timeout", "2", limitSeconds: 20).require(75)
                #expect(try await space.sh("ls -A shared") == "")
                try await drive.unmount()
                try await space.sh("rm one.home/stores/*")
                try await drive.mount()
                try await drive.sh("echo y > g")
                try await drive.sync()
                try await expectProviderMatches(drive, at: shared)
            }
        }

        /// Keeps the store's identity as versions did that kept it in the index, by the provider's name.
        ///
        /// - Parameter isBound: whether that was noted, too, as it is at a start.
        private static func asEarlier(_ provider: String, isBound: Bool) -> String {
            """
            identity=$(sed 's/.*"identity":"//; s/".*//' \(provider)/.quire/store.json)
            rm -rf one.home/stores one.home/config.toml.last
            /usr/bin/python3 - "$identity" <<'END'
            import sqlite3, sys
            index = sqlite3.connect("one.home/index.sqlite")
            key = "user.provider.identity.\(provider)"
            index.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, sys.argv[1]))
            index.execute("DELETE FROM meta WHERE key = 'user.identity.default'")
            if \(isBound ? 0 : 1): index.execute("DELETE FROM meta WHERE key = 'user.binding.default'")
            index.commit()
            END
            """
        }

        @Test("A drive stays with its provider while that alone has content, says so, and goes to the new one then")
        func newDefault() async throws {
            try await Workspace.use { space in
                let shared = "\(space.root)/shared"
                let drive = try await space.mounted(provider: shared)
                try await drive.sh("echo x > f")
                try await drive.sync()
                let new = try space.directory("new")
                try await drive.quire("provider", "add", "new", "folder:\(new)", "--default").require(0)
                // From another device, while the former keeps the drive still.
                try await space.sh("seq 1000 > shared/late")
                try await drive.sync()
                #expect(try await drive.json("status", "late").only("state").string == "dataless")
                try await drive.unmount()
                let mounted = try await drive.quire("mount", drive.mountpoint).require(0)
                #expect(mounted.errors.contains("late") && mounted.errors.contains("quire download ."), "\(mounted)")
                try await drive.sh("echo y > g")
                try await drive.sync()
                #expect(try await drive.sh("seq 1000 | cmp - late && echo whole") == "whole\n")
                try await expectProviderMatches(drive, at: shared)
                #expect(try await space.sh("ls -A new") == ".quire\n")
                try await drive.quire("download", ".").require(0)
                try await drive.unmount()
                try await drive.mount()
                try await drive.sync()
                try await expectProviderMatches(drive, at: new)
            }
        }

        @Test(
            "One store keeps one container, whatever leads to it; nothing that is moved between both is deleted",
            arguments: ["ln -s shared other", "mkdir shared/inner; ln -s shared/inner other"])
        func sharedStore(making: String) async throws {
            try await Workspace.use { space in
                let shared = "\(space.root)/shared"
                let drive = try await space.mounted(provider: shared)
                try await drive.sh("echo only > doc")
                try await drive.sync()
                try await space.sh(making)
                try await drive.quire("provider", "add", "other", "folder:\(space.root)/other").require(0)
                try await drive.unmount()
                try await drive.quire(
                    "container", "create", "com.example.work", "--name", "Work", "--provider", "other"
                ).require(0)
                try await space.sh("mv one.home/drive/doc one.home/drive/Work/doc")
                try await drive.mount()
                for _ in 0..<3 {
                    let outcome = try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                    #expect(outcome.errors.contains("keeps the drive"), "\(outcome.errors)")
                }
                #expect(try await space.sh("cat shared/doc one.home/drive/Work/doc") == "only\nonly\n")
                // The drive's own documents go on.
                try await drive.sh("echo more > more")
                try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                #expect(try await space.sh("cat shared/more") == "more\n")
                // With a store of its own the container has what was moved there.
                try await drive.unmount()
                let own = try space.directory("own")
                try await space.sh("sed -i 's#folder:.*/other#folder:\(own)#' one.home/config.toml")
                try await drive.mount()
                try await drive.sync()
                #expect(try await space.sh("cat own/doc; ls shared | grep -v inner") == "only\nmore\n")
            }
        }

        @Test(
            "The folder that was there when it was added is meant, not the empty place of its disk",
            arguments: [false, true])
        func unpluggedBeforeFirstUse(isUsed: Bool) async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted(provider: "\(space.root)/shared")
                try await drive.sh("echo x > f")
                try await drive.sync()
                let nas = try space.directory("nas")
                if isUsed {
                    let other = try await space.mounted("two", provider: nas)
                    try await other.sync()
                    try await other.unmount()
                }
                try await drive.quire("provider", "add", "nas", "folder:\(nas)", "--default").require(0)
                try await drive.unmount()
                try await space.sh("mv nas unplugged; mkdir nas")
                try await drive.mount()
                try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                #expect(try await space.sh("ls -A nas") == "")
                try await space.sh("rmdir nas; mv unplugged nas")
                try await drive.sync()
                try await expectProviderMatches(drive, at: nas)
            }
        }

        @Test("A provider that was removed while it alone has content keeps the drive when it is added again")
        func removedProvider() async throws {
            try await Workspace.use { space in
                let shared = "\(space.root)/shared"
                let drive = try await space.mounted(provider: shared)
                try await drive.sh("echo x > f; seq 1000 > g")
                try await drive.sync()
                let new = try space.directory("new")
                try await drive.quire("provider", "add", "new", "folder:\(new)", "--default").require(0)
                try await drive.quire("evict", "g").require(0)
                try await drive.unmount()
                for command in [
                    ["provider", "remove", "shared"], ["container", "create", "com.x", "--provider", "shared"],
                ] {
                    let refused = await drive.quire(command)
                    #expect(refused.status == 64 && refused.errors.contains("until the next mount"), "\(refused)")
                }
                try remove(drive)
                let mounted = try await drive.quire("mount", drive.mountpoint).require(0)
                #expect(mounted.errors.contains("folder:\(shared) only"), "\(mounted)")
                // A store of its own, as another device would have made it.
                let mark = #"{"format":1,"identity":"other"}"#
                try await space.sh("echo '\(mark)' > new/.quire/store.json")
                try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                #expect(try await space.sh("ls new") == "")
                try await drive.quire("provider", "add", "shared", "folder:\(shared)").require(0)
                try await drive.unmount()
                try await drive.mount()
                try await drive.sync()
                #expect(try await drive.sh("seq 1000 | cmp - g && echo whole") == "whole\n")
                try await expectProviderMatches(drive, at: shared)
            }
        }

        /// A drive that is not mounted, with `f`, and `g` of which the folder `shared` alone has the content.
        private func parted(_ space: Workspace) async throws -> Drive {
            let drive = try await space.mounted(provider: "\(space.root)/shared")
            try await drive.sh("echo x > f; seq 1000 > g")
            try await drive.sync()
            try await drive.quire("evict", "g").require(0)
            try await drive.unmount()
            return drive
        }

        @Test("While content is at a store only, a URL that was changed has to lead to that store")
        func movedStore() async throws {
            try await Workspace.use { space in
                let drive = try await parted(space)
                let other = try space.directory("other")
                try rebind(drive, to: other)
                try await drive.mount()
                try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                #expect(try await space.sh("ls -A other") == "")
                try await drive.unmount()
                try await space.sh("mv shared moved")
                try rebind(drive, to: "\(space.root)/moved")
                try await drive.mount()
                try await drive.sync()
                #expect(try await drive.sh("seq 1000 | cmp - g && echo whole") == "whole\n")
                try await expectProviderMatches(drive, at: "\(space.root)/moved")
                // All is here: now it may be another.
                try await drive.unmount()
                try rebind(drive, to: other)
                try await drive.mount()
                try await drive.sync()
                try await expectProviderMatches(drive, at: other)
            }
        }

        @Test(
            "What is known of one store is not believed of another at its URL",
            arguments: ["by hand", "added", "checked"])
        func begunAnew(how: String) async throws {
            try await Workspace.use { space in
                let shared = "\(space.root)/shared"
                let drive = try await space.mounted(provider: shared)
                try await drive.sh("echo 1 > a; echo 2 > b; mkdir d; echo 3 > d/c")
                try await drive.sync()
                try await drive.unmount()
                try await space.sh("rm -r shared; mkdir shared")
                if how == "added" {
                    try rebind(drive, to: try space.directory("other"))
                    try await drive.quire("provider", "add", "again", "folder:\(shared)", "--default").require(0)
                } else {
                    try await space.sh("rm one.home/stores/*")
                }
                // That one finds the new store before a mount does.
                if how == "checked" { _ = await drive.quire("check", "--provider") }
                let mounted = try await drive.quire("mount", drive.mountpoint).require(0)
                #expect(mounted.errors.contains("compared anew"), "\(mounted)")
                try await drive.sync()
                #expect(try await drive.sh("cat a b d/c") == "1\n2\n3\n")
                try await expectProviderMatches(drive, at: shared)
                // Once that is so, it stays.
                try await drive.unmount()
                let again = try await drive.quire("mount", drive.mountpoint).require(0)
                #expect(!again.errors.contains("compared anew"), "\(again)")
            }
        }

        @Test("While content is at a store only, no other is accepted at its URL, also where that was forgotten")
        func begunAnewDataless() async throws {
            try await Workspace.use { space in
                let shared = "\(space.root)/shared"
                let drive = try await parted(space)
                try await space.sh("rm one.home/stores/*; mv shared unplugged; mkdir shared")
                for _ in 1...2 {
                    let mounted = try await drive.quire("mount", drive.mountpoint).require(0)
                    #expect(mounted.errors.contains("has to be that store"), "\(mounted)")
                    try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                    #expect(try await space.sh("ls -A shared") == "")
                    try await drive.unmount()
                }
                try await space.sh("rmdir shared; mv unplugged shared")
                try await drive.mount()
                try await drive.sync()
                #expect(try await drive.sh("seq 1000 | cmp - g && echo whole") == "whole\n")
                try await expectProviderMatches(drive, at: shared)
            }
        }

        @Test(
            "A store that was begun anew is used once the user says so: what is here goes up, what is nowhere stays",
            arguments: [true, false])
        func reset(isMounted: Bool) async throws {
            try await Workspace.use { space in
                let shared = "\(space.root)/shared"
                let drive = try await space.mounted(provider: shared)
                try await drive.sh("echo 1 > a; mkdir d; echo 2 > d/b; seq 1000 > g")
                try await drive.sync()
                try await drive.quire("evict", "g").require(0)
                try await space.sh("mv shared former; mkdir shared")
                let away = try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                #expect(away.errors.contains("quire provider reset shared"), "\(away)")
                if !isMounted { try await drive.unmount() }
                let told = await drive.quire("provider", "reset", "shared")
                #expect(told.status == 64 && told.errors.contains("quire provider reset shared --confirm"), "\(told)")
                #expect(told.errors.contains("2 documents") && told.errors.contains(": g"), "\(told)")
                #expect(try await space.sh("ls -A shared; ls one.home/stores | wc -l") == "1\n")
                try await drive.quire("provider", "reset", "shared", "--confirm").require(0)
                for start in 1...2 {
                    if start == 2 || !isMounted {
                        let mounted = try await drive.quire("mount", drive.mountpoint).require(0)
                        #expect(!mounted.errors.contains("has to be that store"), "\(mounted)")
                    }
                    let outcome = try await drive.quire("sync", "--timeout", "45").require(2)
                    #expect(outcome.errors.contains("the content of g is neither here nor"), "\(outcome)")
                    #expect(try await drive.sh("ls; cat a d/b") == "a\nd\ng\n1\n2\n")
                    #expect(try await space.sh("ls shared; cat shared/a shared/d/b") == "a\nd\n1\n2\n")
                    try await drive.unmount()
                }
                // What was restored there from elsewhere is content of the placeholder.
                try await space.sh("cp former/g shared/")
                try await drive.mount()
                try await drive.sync()
                #expect(try await drive.sh("seq 1000 | cmp - g && echo whole") == "whole\n")
                try await expectProviderMatches(drive, at: shared)
            }
        }

        @Test("What a provider of a name could do says nothing of another that is added under it")
        func conditionsOfAName() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted(provider: "\(space.root)/shared")
                try await drive.sync()
                try await drive.unmount()
                func conditions(_ statement: String = "") async throws -> String {
                    try await space.sh(
                        """
                        /usr/bin/python3 - <<'END'
                        import sqlite3
                        index = sqlite3.connect("one.home/index.sqlite")
                        \(statement)
                        index.commit()
                        question = "SELECT key FROM meta WHERE key LIKE 'user.provider.conditions.%' ORDER BY key"
                        for key, in index.execute(question): print(key.split(".")[-1])
                        END
                        """)
                }
                // As the engine of one that was removed since has left it.
                let left = #"index.execute("INSERT INTO meta VALUES ('user.provider.conditions.more', 'locked')")"#
                #expect(try await conditions(left) == "more\nshared\n")
                try await drive.quire("provider", "add", "more", "folder:\(space.root)/more").require(0)
                #expect(try await conditions() == "shared\n")
            }
        }

        @Test("A store that moved is the drive's once it was found: what waits then is sent after the next mount")
        func movedStoreIsBound() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted(provider: "\(space.root)/shared")
                try await drive.sh("echo x > f; seq 1000 > g; echo y > h")
                try await drive.sync()
                try await drive.quire("evict", "g").require(0)
                try await drive.unmount()
                try await space.sh("mv shared moved")
                try rebind(drive, to: "\(space.root)/moved")
                try await drive.mount()
                try await drive.sync()
                try await drive.quire("pause").require(0)
                try await drive.sh("rm f; echo changed > h")
                try await drive.unmount()
                let mounted = try await drive.quire("mount", drive.mountpoint).require(0)
                #expect(!mounted.errors.contains("kept by"), "\(mounted)")
                try await drive.quire("resume").require(0)
                try await drive.sync()
                #expect(try await drive.sh("ls; cat h") == "g\nh\nchanged\n")
                try await expectProviderMatches(drive, at: "\(space.root)/moved")
            }
        }

        @Test("A container that is made while another store is expected does not have the one there accepted")
        func containerMeanwhile() async throws {
            try await Workspace.use { space in
                let drive = try await parted(space)
                let (other, notes) = (try space.directory("other"), try space.directory("notes"))
                try rebind(drive, to: other)
                try await drive.mount()
                try await drive.quire("provider", "add", "notes", "folder:\(notes)").require(0)
                try await drive.quire("container", "create", "com.x.Notes", "--name", "Notes", "--provider", "notes")
                    .require(0)
                try await drive.unmount()
                try await drive.mount()
                try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                #expect(try await space.sh("ls -A other") == "")
            }
        }

        /// Takes the provider "shared" out of the configuration, as people do by hand.
        private func remove(_ drive: Drive) throws {
            let path = "\(drive.home)/config.toml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let changed = text.replacing(#/\[\[provider\]\]\nname = "shared"\n([a-z_]+ = .*\n)*/#, with: "")
            try #require(changed != text)
            try changed.write(toFile: path, atomically: true, encoding: .utf8)
        }

        /// Gives the provider "shared" another URL, as people do by hand.
        private func rebind(_ drive: Drive, to folder: String) throws {
            let path = "\(drive.home)/config.toml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let changed = text.replacing(
                #/name = "shared"\nurl = ".*"/#, with: "name = \"shared\"\nurl = \"folder:\(folder)\"")
            try changed.write(toFile: path, atomically: true, encoding: .utf8)
        }

        @Test("Nothing in a home can be read by others, also where the home's directory was there before")
        func othersReadNothing() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await space.sh("mkdir -m 755 one.home")
                // From an earlier version.
                try await drive.mount()
                try await drive.unmount()
                try await space.sh("chmod 644 one.home/index.sqlite")
                try await drive.mount()
                try await drive.sh("echo x > f; echo y > f")
                try await drive.sync()
                #expect(try await space.sh("find one.home -mindepth 1 -maxdepth 1 -perm /077") == "")
            }
        }
    }
}
