import Foundation
import Testing

extension EndToEnd {
    /// Limits on the room that the drive takes.
    @Suite("Space", .timeLimit(.minutes(5)))
    struct SpaceTests {
        @Test("Beyond the limit least recently used documents become dataless; pinned, dirty and open ones stay")
        func leastRecentlyUsed() async throws {
            try await Workspace.use { space in
                let drive = try await limited(space, "10 MB")
                try await drive.sh(
                    """
                    mkdir kept; head -c 2000000 /dev/urandom > kept/a; for i in 1 2 3; do head -c 2000000 /dev/urandom > f$i; done
                    cat kept/a f1 f2 f3 | sha256sum > ../sums
                    """)
                try await drive.sync()
                try await drive.quire("pin", "kept").require(0)
                // Longest ago first; pinned ones do not count.
                try await drive.sh(
                    "touch -d '-9 days' kept/a; touch -d '-8 days' f2; touch -d '-7 days' f3; touch -d '-6 days' f1"
                )
                try await drive.sync()
                try await drive.sh(
                    """
                    exec 3< f2; head -c 3000000 /dev/zero > g; "$QUIRE" sync --timeout 45
                    for try in $(seq 200); do [ "$("$QUIRE" status f3)" = 'dataless    f3' ] && break; sleep 0.1; done
                    "$QUIRE" status f2 f3 > ../states
                    """)
                #expect(try await drive.sh("cat ../states") == "current     f2\ndataless    f3\n")
                try await drive.sh("head -c 2000000 /dev/zero > h; \"$QUIRE\" sync --timeout 45")
                try await eventually("f2 is dataless", seconds: 20) { try await state(drive, "f2") == "dataless" }
                for path in ["kept/a", "f1", "h"] { #expect(try await state(drive, path) == "current", "\(path)") }
                let status = try await drive.json("status")("space")
                #expect(try status("used").int <= 10_000_000)
                #expect(try status("limit").int == 10_000_000)
                #expect(await drive.quire("status").output.contains("of 10 MB"))
                // A pin covers what comes later; and what was evicted comes back.
                #expect(try await drive.sh("cat kept/a f1 f2 f3 | sha256sum") == drive.sh("cat ../sums"))
                try await drive.sh("echo later > kept/b")
                try await drive.sync()
                let refused = await drive.quire("evict", "kept/b")
                #expect(refused.status == 1 && refused.errors.contains("pinned"), "\(refused.errors)")
            }
        }

        @Test(
            "Where what is not uploaded leaves no room, write says ENOSPC, and no longer once it is uploaded",
            arguments: [[], ["-o", "nopassthrough"]])
        func full(options: [String]) async throws {
            try await Workspace.use { space in
                let provider = try space.directory("provider")
                let drive = try await limited(space, "4 MB", provider: provider, options: options)
                try await drive.sync()
                try await space.sh("mv provider away")
                try await drive.sh("head -c 3000000 /dev/urandom > a")
                let refused = await drive.shell("head -c 3000000 /dev/urandom > b").run()
                #expect(refused.status != 0 && refused.errors.contains("No space left"), "\(refused.errors)")
                // What was accepted is there, and nothing more than the limit.
                let taken = try await drive.sh("cat a b | wc -c")
                #expect(
                    (3_000_000...4_000_000).contains(Int(taken.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0))
                for attempt in [
                    "truncate -s 3M b", "fallocate -l 3M b", "head -c 3000000 a | cat >> a", "cp --sparse=never a c",
                ] {
                    let outcome = await drive.shell(attempt).run()
                    #expect(outcome.status != 0 && outcome.errors.contains("No space left"), "\(attempt): \(outcome)")
                }
                // In place, shorter, renamed and removed is fine.
                try await drive.sh("printf x | dd of=a conv=notrunc status=none; mv a d; : > b; rm -f c")
                try drive.crash()
                try await drive.mount(options: options)
                let again = await drive.shell("head -c 3000000 /dev/urandom > e").run()
                #expect(again.status != 0 && again.errors.contains("No space left"), "\(again.errors)")
                try await space.sh("mv away provider")
                try await drive.sync()
                try await eventually("there is room again", seconds: 20) {
                    await drive.shell("head -c 3000000 /dev/urandom > e").run().status == 0
                }
            }
        }

        @Test("A document that does not fit says ENOSPC at open and why in quire status; statfs says what is left")
        func download() async throws {
            try await Workspace.use { space in
                let provider = try space.directory("provider")
                try await space.sh(
                    "head -c 6000000 /dev/urandom > provider/large; head -c 1000000 /dev/zero > provider/small")
                let drive = try await limited(space, "4 MB", provider: provider)
                try await drive.sync()
                let opened = await drive.shell("cat large > /dev/null").run()
                #expect(opened.status != 0 && opened.errors.contains("No space left"), "\(opened.errors)")
                #expect(await drive.quire("status").output.contains("no room for its 6.0 MB"))
                try await drive.sh("cat small > /dev/null")
                #expect(try await state(drive, "small") == "current")
                // What has just come can go as soon as the index has it.
                try await eventually("what can be evicted counts as room", seconds: 20) {
                    let left = try await drive.sh("stat -f -c '%a %S' .").split(separator: " ")
                    let bytes = left.compactMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
                    return (3_900_000...4_000_000).contains(bytes.reduce(1, *))
                }
            }
        }

        @Test("What the kernel copies of a document while it comes ends at the limit, too")
        func copied() async throws {
            try await Workspace.use { space in
                let provider = try space.directory("provider")
                try await space.sh("seq 5700000 > provider/big")
                let drive = try await limited(space, "60 MB", provider: provider)
                try await drive.sync()
                let copy = await drive.python(
                    "arriving.py", ["copied", "\(drive.mountpoint)/big", "\(provider)/big"]
                ).run()
                #expect(copy.status != 0 && copy.errors.contains("No space left"), "\(copy.errors)")
                #expect(Int(try await drive.sh("stat -c %s big.copy").dropLast()) ?? .max < 20_000_000)
            }
        }

        @Test("statfs tells what the provider has left where that is less, and refuses nothing for it")
        func quota() async throws {
            try await Workspace.use { space in
                let provider = try await space.mountFilesystem("tmpfs", options: "size=8m", at: "provider")
                let drive = try await space.drive(provider: provider)
                try await drive.mount()
                try await drive.sync()
                let before = try await free(space, "one")
                #expect((4_000_000...8 << 20).contains(before))
                try await drive.sh("head -c 3000000 /dev/urandom > a")
                try await drive.sync()
                try await eventually("what was uploaded is taken from what is left", seconds: 20) {
                    let taken = before - (try await free(space, "one"))
                    return (3_000_000...3_200_000).contains(taken)
                }
                try await drive.sh("head -c 20000000 /dev/urandom > b")
                #expect(await drive.quire("sync", "--timeout", "30").status == 2)
                #expect(try await free(space, "one") == 0)
                #expect(try await drive.sh("wc -c < b") == "20000000\n")
            }
        }

        @Test("What is to stay free stays free: uploaded content goes first, then writers get ENOSPC")
        func keepFree() async throws {
            try await Workspace.use { machine in
                let disk = try await machine.mountFilesystem("tmpfs", options: "size=95m", at: "disk")
                let provider = try machine.directory("provider")
                try await Workspace.use(in: disk) { space in
                    let drive = try await limited(space, "40 MB", key: "keepFree", provider: provider)
                    for name in ["a", "b", "c"] {
                        try await drive.sh("head -c 20000000 /dev/urandom > \(name)")
                        try await drive.sync()
                    }
                    try await eventually("a is dataless", seconds: 20) { try await state(drive, "a") == "dataless" }
                    #expect(try await free(space, "one.home") >= 40_000_000)
                    // What is written now is not uploaded; what was is looked at before it goes.
                    try await drive.quire("pause").require(0)
                    // More than there is without what can go, and less than there is with it.
                    try await drive.sh("head -c 45000000 /dev/zero > d")
                    #expect(try await free(space, "one.home") >= 39_000_000)
                    for name in ["b", "c"] { #expect(try await state(drive, name) == "dataless", "\(name)") }
                    let refused = await drive.shell("head -c 20000000 /dev/zero > e").run()
                    #expect(refused.status != 0 && refused.errors.contains("No space left"), "\(refused.errors)")
                    #expect(try await free(space, "one.home") >= 38_000_000)
                }
            }
        }

        private func free(_ space: Workspace, _ path: String) async throws -> Int {
            let text = try await space.sh("stat -f -c '%a %S' \(path)")
            return text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.reduce(1, *)
        }

        private func limited(
            _ space: Workspace, _ limit: String, key: String = "limit", provider: String? = nil, options: [String] = []
        ) async throws -> Drive {
            let drive = try await space.drive(provider: provider)
            if provider == nil { try await drive.quire("provider", "list").require(0) }
            try await drive.mount()
            try await drive.unmount()
            try drive.configure(in: "cache", "\(key) = \"\(limit)\"")
            try await drive.mount(options: options)
            return drive
        }

        private func state(_ drive: Drive, _ path: String) async throws -> String {
            try await drive.sh("getfattr --only-values -n user.quire.state \(path)")
        }
    }
}
