import Foundation
import Testing

extension EndToEnd {
    @Suite("Drives at servers", .timeLimit(.minutes(5)))
    struct ServerTests {
        static var servers: [String] {
            (["apache", "lighttpd", "nginx", "sabre", "rclone"] + StorageServers.stores).filter {
                StorageServers.started[$0] != nil
            }
        }
        /// Those that keep what is replaced.
        static var keepers: [String] { StorageServers.versionKeepers.filter { StorageServers.started[$0] != nil } }
        /// One that has neither locks nor conditions.
        static var lossy: [String] { StorageServers.started.keys.filter { $0 == "unlocked" } }

        @Test("Two devices with one account have the same documents, also after one was killed", arguments: servers)
        func twoDevices(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await withTwo(account) { one, two in
                try await one.sh("mkdir -p a/b; seq 20000 > a/b/big; echo 'x y' > 'a/ü %#?.txt'; : > empty")
                try await one.sync()
                try await two.sync()
                #expect(
                    try await two.sh("sha256sum < a/b/big; cat a/ü*; stat -c %s empty")
                        == (try await one.sh("sha256sum < a/b/big; cat a/ü*; stat -c %s empty")))
                try await two.sh(
                    "echo more >> a/b/big; mv a/b moved; rm empty; for i in $(seq 40); do seq $i > n$i; done")
                // In the middle of what it uploads.
                try two.crash()
                try await two.remount()
                // A lock that it held stays for a minute.
                try await two.sync(seconds: 100)
                try await one.sh("echo other > other")
                try await one.sync()
                try await two.sync()
                try await one.sync()
                let look = "find . -type f | sort | xargs -d '\\n' sha256sum"
                #expect(try await one.sh(look) == (try await two.sh(look)))
                #expect(try await one.sh("tail -1 moved/big; ls | wc -l; cat n40 | wc -l") == "more\n43\n40\n")
                #expect(await one.quire("conflicts").output.isEmpty)
            }
        }

        @Test(
            "Versions that a bucket or a server keeps are listed and restored, and what was restored over is kept, too",
            arguments: keepers)
        func bucketVersions(server: String) async throws {
            try await withThreeVersions(server) { one, two in
                let listed = try await two.quire("versions", "doc").require(0).output.split(separator: "\n")
                #expect(listed.count == 2 && listed.allSatisfy { $0.hasSuffix("at the provider") }, "\(listed)")
                let first = try #require(listed.last?.split(separator: " ").first)
                try await two.quire("restore", "doc", String(first)).require(0)
                #expect(try await two.sh("cat doc") == "first\n")
                try await two.sync()
                try await one.sync()
                #expect(try await one.sh("cat doc") == "first\n")
                // Kept here before it was replaced, and in the bucket afterwards.
                let afterwards = try await two.quire("versions", "doc").require(0).output.split(separator: "\n")
                #expect(
                    afterwards.count { $0.hasSuffix("at the provider") } == 3 && afterwards.count == 4, "\(afterwards)")
            }
        }

        @Test("Adding an account tells that it keeps versions", arguments: keepers)
        func addingKeeper(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await StorageServers.keepVersions(account)
            try await Workspace.use { workspace in
                let drive = try await workspace.drive()
                let added = try await drive.add(account).require(0)
                #expect(added.errors.contains("earlier versions: yes"), "\(added.errors)")
            }
        }

        @Test(
            "An app downloads a version that only the provider keeps: it is among the others then, the same as before",
            arguments: keepers)
        func downloadedVersion(server: String) async throws {
            try await withThreeVersions(server) { one, two in
                let doc = "\(two.mountpoint)/doc"
                let app = try App()
                try app.tell("download \(doc)")
                try await app.hears("downloaded first true true false true")
                try app.tell("nonlocal \(doc)")
                try await app.hears("nonlocal 1")
                try app.tell("versions \(doc)")
                #expect(try await app.next().hasPrefix("versions current=true unresolved=0 found=1 first|"))
                let listed = try await two.quire("versions", "doc").require(0).output.split(separator: "\n")
                #expect(listed.count { $0.hasSuffix("at the provider") } == 1 && listed.count == 2, "\(listed)")
                let kept = try #require(listed.first { !$0.hasSuffix("at the provider") }?.split(separator: " ").first)
                try await two.quire("restore", "doc", String(kept)).require(0)
                #expect(try await two.sh("cat doc") == "first\n")
            }
        }

        @Test(
            "Devices tell each other what they change; what other programs put there is found by a listing",
            arguments: servers)
        func announced(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await Workspace.use { workspace in
                let one = try await workspace.drive(at: account, "one")
                let two = try await workspace.drive(at: account, "two")
                for drive in [one, two] {
                    try drive.configure("poll_seconds", "1")
                    try drive.configure("list_seconds", "86400")
                    try await drive.mount()
                }
                try await one.sh("echo first > doc; mkdir d; echo x > d/x")
                for drive in [one, two] { try await drive.sync() }
                try await workspace.sh("echo foreign > put")
                try await StorageServers.put("\(workspace.root)/put", account, "foreign.txt")
                // Nobody asks the second device to look.
                try await one.sh("echo second > doc; echo y > d/y; rm d/x")
                try await eventually("the other device has heard", seconds: 30) {
                    await two.shell("cat doc d/*").run().output == "second\ny\n"
                }
                try await two.sh("mv d/y w; echo z > d/z")
                try await eventually("and the first has", seconds: 30) {
                    await one.shell("cat w d/* && ls").run().output == "y\nz\nd\ndoc\nw\n"
                }
                // It takes a listing of everything, as after a directory was moved with all in it.
                try await two.sh("mv d e")
                try await eventually("everything was listed", seconds: 30) {
                    await one.shell("cat e/z").run().output == "z\n"
                }
                try await one.sync()
                #expect(try await one.sh("cat foreign.txt") == "foreign\n")
            }
        }

        @Test("Of a large document only what is read comes", arguments: servers)
        func parts(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await withTwo(account) { one, two in
                try await one.sh("seq 3000000 > big", limitSeconds: 120)
                try await one.sync()
                try await two.sync()
                #expect(try await two.sh("head -c 4 big; tail -c 8 big") == "1\n2\n3000000\n")
                // But of servers that hand out whole documents.
                let here = try await two.json("status", "big").only("materialized").int
                let size = Int(try await two.sh("stat -c %s big").dropLast()) ?? 0
                #expect(here <= 13 << 20 || here == size)
                print("\(server): \(here) of \(size) bytes for a head and a tail")
                #expect(try await two.sh("sha256sum < big") == (try await one.sh("sha256sum < big")))
            }
        }

        @Test("Edits of one document on two devices at once are both kept", arguments: servers)
        func conflict(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await withTwo(account) { one, two in
                try await one.sh("echo start > doc")
                try await one.sync()
                try await two.sync()
                try await two.sh("cat doc")
                async let first: Void = { try await one.sh("echo ours > doc") }()
                async let second: Void = { try await two.sh("echo theirs > doc") }()
                _ = try await (first, second)
                for drive in [one, two, one, two] { _ = await drive.quire("sync", "--timeout", "45") }
                let all = try await one.sh("cat doc*")
                #expect(all.contains("ours") && all.contains("theirs"))
                #expect(try await two.sh("cat doc*") == all)
            }
        }

        @Test(
            "A document has its time and mode on the other device, too, with its content there or not",
            arguments: servers)
        func attributes(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await withTwo(account) { one, two in
                let look = "stat -c '%n %Y.%y %a' early late large moved edited"
                try await one.sh("seq 9 > early; seq 9 > source; seq 9 > edited; truncate -s 9M large")
                try await one.sh(
                    "chmod 600 early; chmod 755 large source; touch -d '2001-02-03 04:05:06.789' early large")
                try await one.sync()
                // Seen for the first time by a listing.
                try await two.sync()
                try await one.sh(
                    "echo late > late; chmod 640 late; touch -d '1999-12-31 23:59:58.5' late; mv source moved")
                try await one.sh("echo more >> edited; touch -d '2011-11-11 11:11:11.111111111' edited")
                try await one.sync()
                try await two.sync()
                let here = try await one.sh(look)
                #expect(try await two.sh(look) == here)
                try await two.sh("cat early late moved edited large > /dev/null")
                #expect(try await two.sh(look) == here)
                // Nothing of it is taken for a change.
                try await two.sync()
                #expect(try await two.json("status")("pending")("upload").int == 0)
                try await one.sync()
                #expect(try await one.sh(look) == here)
                #expect(try await two.sh(look) == here)
                #expect(await two.quire("conflicts").output.isEmpty)
            }
        }

        @Test(
            "Tags go to other devices where the server keeps properties; elsewhere they stay, and nothing waits",
            arguments: servers)
        func tags(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await withTwo(account) { one, two in
                try await one.sh("mkdir d; echo text > d/doc")
                for drive in [one, two] { try await drive.sync() }
                try await one.quire("tag", "add", "work,two words", "d/doc", "d").require(0)
                for drive in [one, two] { try await drive.sync() }
                let travels = ["apache", "sabre"].contains(server)
                let there = try await two.sh("getfattr --only-values -n user.xdg.tags d d/doc 2>/dev/null || true")
                #expect(there == (travels ? "work,two wordswork,two words" : ""))
                // As an editor saves.
                try await two.sh("echo more > d/new; mv d/new d/doc")
                try await two.quire("tag", "add", "other", "d/doc").require(0)
                try await two.quire("tag", "remove", "work", "d/doc").require(0)
                for drive in [two, one] { try await drive.sync() }
                #expect(
                    try await one.quire("tag", "list", "d/doc").require(0).output
                        == (travels ? "two words\nother\n" : "work\ntwo words\n"))
                #expect(try await one.sh("cat d/doc") == "more\n")
                for drive in [one, two] { #expect(try await drive.json("status")("pending")("upload").int == 0) }
            }
        }

        @Test("What other programs put there is on the drive", arguments: servers)
        func foreign(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await Workspace.use { workspace in
                let drive = try await workspace.drive(at: account, "one")
                try await drive.mount()
                try await workspace.sh("echo foreign > put")
                try await StorageServers.put("\(workspace.root)/put", account, "foreign.txt")
                try await drive.sync()
                #expect(try await drive.sh("cat foreign.txt") == "foreign\n")
            }
        }

        @Test(
            "Adding an account tells what it can do; a wrong password is refused, and no secret is told",
            arguments: servers)
        func adding(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await Workspace.use { workspace in
                let drive = try await workspace.drive()
                // moto takes every secret.
                if server != "moto" {
                    let wrong = await drive.add(account, secret: "wrong-word")
                    #expect(wrong.status == 69)
                    #expect(wrong.errors.contains("does not accept") && !wrong.errors.contains("wrong-word"))
                }
                let added = try await drive.add(account).require(0)
                #expect(
                    added.errors.contains(
                        "conditional writes: \(StorageServers.stores.contains(server) ? "atomic" : "by lock")"))
                let list = try await drive.quire("provider", "list").require(0).output
                #expect(list.contains(account.url) && !list.contains(StorageServers.secret))
                let secret = "\(drive.home)/secrets/\(server)"
                #expect(
                    try await workspace.sh("stat -c %a '\(secret)'; cat '\(secret)'")
                        == "600\n\(StorageServers.secret)\n")
                #expect(
                    try await workspace.sh("grep -r '\(StorageServers.secret)' '\(drive.home)' -l") == "\(secret)\n")
                try await drive.quire("provider", "remove", server).require(0)
                #expect(!FileManager.default.fileExists(atPath: secret))
            }
        }

        @Test(
            "A changed password is renewed with the drive mounted and with it stopped; a wrong one changes nothing",
            arguments: servers.filter { $0 != "moto" })
        func renewing(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await Workspace.use { workspace in
                let drive = try await workspace.drive(at: account, "one")
                try await drive.mount()
                try await drive.sh("echo one > doc")
                try await drive.sync()
                // As after it was changed at the server.
                let secret = "\(drive.home)/secrets/\(server)"
                try await drive.unmount()
                try await workspace.sh("echo former-word > '\(secret)'")
                try await drive.mount()
                try await drive.sh("echo two > doc")
                #expect(await drive.quire("sync", "--timeout", "20").status == 75)
                let status = try await drive.quire("status").require(0).output
                #expect(status.contains("renew it: `quire provider secret \(server)`"), "\(status)")
                let wrong = await drive.renew(account, secret: "wrong-word")
                #expect(wrong.status == 69 && wrong.errors.contains("othing was changed"), "\(wrong.errors)")
                #expect(!wrong.errors.contains("wrong-word"))
                #expect(try await workspace.sh("cat '\(secret)'") == "former-word\n")
                let renewed = try await drive.renew(account).require(0)
                #expect(!(renewed.output + renewed.errors).contains(StorageServers.secret))
                try await drive.sync()
                #expect(try await workspace.sh("stat -c %a '\(secret)'") == "600\n")

                try await drive.unmount()
                try await workspace.sh("echo former-word > '\(secret)'")
                #expect(await drive.renew(account, secret: "wrong-word").status == 69)
                try await drive.renew(account).require(0)
                try await drive.mount()
                try await drive.sh("echo three > doc")
                try await drive.sync()
                #expect(
                    try await workspace.sh("grep -r '\(StorageServers.secret)' '\(drive.home)' -l") == "\(secret)\n")
            }
        }

        @Test("A server at which an update may be lost is refused, and added when that is accepted", arguments: lossy)
        func acceptLossy(server: String) async throws {
            let account = try await StorageServers.account(server)
            try await Workspace.use { workspace in
                let drive = try await workspace.drive()
                let refused = await drive.add(account)
                #expect(refused.status == 64 && refused.errors.contains("may lose an update"))
                #expect(!FileManager.default.fileExists(atPath: "\(drive.home)/secrets/\(server)"))
                let added = try await drive.add(account, isDefault: true, options: ["--accept-lossy"]).require(0)
                #expect(added.errors.contains("may lose an update"))
                try await drive.mount()
                try await drive.sh("echo x > a; mkdir d; echo y > d/b; rm a")
                try await drive.sync()
                #expect(try await StorageServers.curl("\(account.address)/d/b") == "y\n")
            }
        }

        /// Two devices at a bucket that keeps versions, which has `doc` in three: first, second, third.
        private func withThreeVersions(_ server: String, _ body: @escaping (Drive, Drive) async throws -> Void)
            async throws
        {
            let account = try await StorageServers.account(server)
            try await StorageServers.keepVersions(account)
            try await withTwo(account) { one, two in
                for text in ["first", "second", "third"] {
                    try await one.sh("echo \(text) > doc")
                    try await one.sync()
                }
                try await two.sync()
                try await body(one, two)
            }
        }

        private func withTwo(
            _ account: StorageServers.Account, _ body: @escaping (Drive, Drive) async throws -> Void
        ) async throws {
            try await Workspace.use { workspace in
                let one = try await workspace.drive(at: account, "one")
                let two = try await workspace.drive(at: account, "two")
                try await one.mount()
                try await two.mount()
                try await body(one, two)
            }
        }
    }
}
