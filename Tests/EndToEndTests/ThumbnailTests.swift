import Foundation
import Testing

extension EndToEnd {
    /// Pictures of documents, seen through the files that file managers read.
    @Suite("Thumbnails", .timeLimit(.minutes(5)))
    struct ThumbnailTests {
        /// 900 × 600, blue.
        private static let drawing =
            "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='600'><rect width='900' height='600' fill='blue'/></svg>"

        @Test("A picture appears where file managers look, follows the document, and goes with it")
        func life() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir dir; echo \"\(Self.drawing)\" > 'dir/a picture.svg'; echo text > dir/b.txt")
                let file = try await thumbnail(drive, "dir/a picture.svg")
                #expect(file.hasPrefix(drive.thumbnails + "/xx-large/"))
                #expect(try await space.sh("stat -c %a '\(file)'") == "600\n")
                #expect(
                    try await texts(space, file)["Thumb::URI"] == "file://\(drive.mountpoint)/dir/a%20picture.svg")
                let modified = try await drive.sh("stat -c %Y 'dir/a picture.svg'")
                #expect(try await texts(space, file)["Thumb::MTime"] == modified.trimmed)
                #expect(
                    try await sizes(drive) == ["large 256 171", "normal 128 85", "x-large 512 341", "xx-large 512 341"])
                // The name is the one that the standard wants.
                let name = try await space.sh(
                    "printf %s 'file://\(drive.mountpoint)/dir/a%20picture.svg' | md5sum | cut -d' ' -f1")
                #expect(file.hasSuffix("/\(name.trimmed).png"))
                // A renamed document, a renamed directory.
                try await drive.sh("mv 'dir/a picture.svg' dir/b.svg")
                try await eventually("the picture has followed", seconds: 20) {
                    try await shown(space, drive) == ["file://\(drive.mountpoint)/dir/b.svg"]
                }
                try await drive.sh("mv dir other")
                try await eventually("the picture has followed the directory", seconds: 20) {
                    try await shown(space, drive) == ["file://\(drive.mountpoint)/other/b.svg"]
                }
                try await drive.sh("rm -r other")
                try await eventually("the picture is gone", seconds: 20) { try await shown(space, drive) == [] }
                #expect(
                    try await space.sh(
                        "ls \(drive.home)/thumbnails \(drive.embeddedProvider)/.quire/thumbnails | grep png || true")
                        == "")
            }
        }

        @Test("Another device shows pictures of documents that are not there, with no byte of them fetched")
        func dataless() async throws {
            try await withTwo { space, one, two in
                try await one.sh("mkdir d; for i in 1 2 3; do echo \"\(Self.drawing)\" > d/$i.svg; done")
                for name in ["1", "2", "3"] { _ = try await thumbnail(one, "d/\(name).svg") }
                try await one.sync()
                // Any reading of content at the provider shows in these.
                let times = "touch -a -d 2001-01-01 shared/d/*.svg; stat -c %X shared/d/*.svg"
                let look = "stat -c %X shared/d/*.svg"
                let before = try await space.sh(times)
                try await two.sync()
                try await eventually("the pictures are there", seconds: 30) { try await shown(space, two).count == 3 }
                try await eventually("each in four sizes", seconds: 30) { try await sizes(two).count == 12 }
                let file = try await two.quire("thumbnail", "d/1.svg").require(0).output.trimmed
                #expect(try await two.sh("getfattr --only-values -n user.quire.thumbnail d/1.svg") == file)
                try await two.quire("thumbnail", "d/2.svg", "-o", "\(space.root)/out.png", "--size", "256").require(0)
                #expect(try await space.sh("file out.png").contains("256 x 171"))
                for name in ["1", "2", "3"] {
                    #expect(try await two.sh("getfattr --only-values -n user.quire.state d/\(name).svg") == "dataless")
                }
                #expect(try await two.takeNoRoom("d/*.svg"))
                #expect(try await space.sh(look) == before)
                // Moved here, without content, it keeps its picture there, too.
                try await two.sh("mv d e")
                try await two.sync()
                try await one.sync()
                try await eventually("the pictures have followed", seconds: 30) {
                    try await shown(space, one).allSatisfy { $0.contains("/e/") }
                }
                #expect(try await space.sh("stat -c %X shared/e/*.svg") == before)
                // What would have been seen: one document is opened.
                try await two.sh("cat e/1.svg")
                #expect(try await space.sh("stat -c %X shared/e/*.svg") != before)
            }
        }

        @Test("A given picture wins over a made one, on all devices, until the document changes")
        func given() async throws {
            try await withTwo { space, one, two in
                try await one.sh("echo \"\(Self.drawing)\" > a.svg")
                _ = try await thumbnail(one, "a.svg")
                try await one.sync()
                try await two.sync()
                try await eventually("the picture is there", seconds: 30) { try await shown(space, two).count == 1 }
                try await space.sh(
                    "echo \"\(Self.drawing)\" | sed 's/900/300/g' > s.svg; vipsthumbnail s.svg --size 300x -o given.png"
                )
                try await two.quire("thumbnail", "a.svg", "--set", "\(space.root)/given.png").require(0)
                let given = try await sizes(two)
                #expect(given.contains { $0.hasSuffix("300 600") })
                try await eventually("the given picture is there", seconds: 30) {
                    try await one.sync()
                    return try await sizes(one).contains { $0.hasSuffix("300 600") }
                }
                try await one.sh("echo '<!-- changed -->' >> a.svg")
                try await eventually("the made picture is there", seconds: 30) {
                    try await sizes(one).contains("x-large 512 341")
                }
            }
        }

        @Test("What was moved, removed and made while no daemon ran is seen to at the next start")
        func restart() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("for i in 1 2; do echo \"\(Self.drawing)\" > $i.svg; done")
                for name in ["1", "2"] { _ = try await thumbnail(drive, "\(name).svg") }
                try await drive.unmount()
                try await space.sh("cd \(drive.store); rm 1.svg; cp 2.svg 3.svg; ls \(drive.home)/thumbnails | wc -l")
                try await drive.mount()
                _ = try await thumbnail(drive, "3.svg")
                try await eventually("there are two", seconds: 20) {
                    try await space.sh(
                        "ls \(drive.home)/thumbnails \(drive.embeddedProvider)/.quire/thumbnails | grep -c png || true")
                        == "4\n"
                }
            }
        }

        @Test("A refusal names the document, the reason and what to do")
        func refusals() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo x > a.unknown; echo 'no picture' > bad.jpg; : > empty.png; mkdir dir")
                let unknown = await drive.quire("thumbnail", "a.unknown")
                #expect(
                    unknown.status == 69 && unknown.errors.contains("a.unknown") && unknown.errors.contains("--set"))
                let bad = await drive.quire("thumbnail", "bad.jpg")
                #expect(bad.status == 69 && bad.errors.contains("bad.jpg has no thumbnail"))
                // Noted for others, as the standard wants, and for us: the next answer is at once the same.
                #expect(try await space.sh("ls \(drive.thumbnails)/fail/quire | wc -l") == "1\n")
                #expect(await drive.quire("thumbnail", "bad.jpg").status == 69)
                #expect(await drive.quire("thumbnail", "empty.png").status == 75)
                #expect(await drive.quire("thumbnail", "missing").status == 66)
                #expect(await drive.quire("thumbnail", "dir").status == 66)
                try await space.sh("echo text > no.png")
                let given = await drive.quire("thumbnail", "a.unknown", "--set", "\(space.root)/no.png")
                #expect(given.status == 64 && given.errors.contains("no.png"))
                #expect(await drive.quire("thumbnail", "a.unknown", "--size", "77").status == 64)
            }
        }

        @Test("A document that is text gets its page when somebody asks")
        func text() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo 'Dear <reader> & friend' > letter.txt")
                let file = try await drive.quire("thumbnail", "letter.txt").require(0).output.trimmed
                #expect(try await space.sh("file '\(file)'").contains("362 x 512"))
            }
        }

        // Helpers

        private func withTwo(_ body: (Workspace, Drive, Drive) async throws -> Void) async throws {
            try await Workspace.use { space in
                let one = try await space.drive("first", provider: "\(space.root)/shared")
                let two = try await space.drive("second", provider: "\(space.root)/shared")
                for drive in [one, two] { try await drive.mount() }
                try await body(space, one, two)
            }
        }

        /// Waits until it was made in the background.
        private func thumbnail(_ drive: Drive, _ path: String) async throws -> String {
            let attribute = "getfattr --only-values -n user.quire.thumbnail '\(path)' 2> /dev/null || true"
            try await eventually("\(path) has a picture", seconds: 30) { try await !drive.sh(attribute).isEmpty }
            return try await drive.sh(attribute)
        }

        /// The URIs in the user's cache.
        private func shown(_ space: Workspace, _ drive: Drive) async throws -> [String] {
            var uris = Set<String>()
            for file in try await files(space, drive) {
                // It may be gone by now.
                if let uri = try? await texts(space, file)["Thumb::URI"] { uris.insert(uri) }
            }
            return uris.sorted()
        }

        private func files(_ space: Workspace, _ drive: Drive) async throws -> [String] {
            try await space.sh(
                "find \(drive.thumbnails) -name '[0-9a-f]*.png' -not -path '*/fail/*' 2> /dev/null || true"
            )
            .split(separator: "\n").map(String.init)
        }

        /// `DIRECTORY WIDTH HEIGHT` of all in the user's cache.
        private func sizes(_ drive: Drive) async throws -> [String] {
            try await Command(
                arguments: [
                    "bash", "-c",
                    """
                    cd \(drive.thumbnails) 2> /dev/null || exit 0
                    for f in $(find . -name '*.png' -not -path './fail/*'); do
                        echo "$(basename $(dirname $f)) $(file $f | sed -E 's/.*data, ([0-9]+) x ([0-9]+),.*/\\1 \\2/')"
                    done
                    """,
                ]
            ).succeed().split(separator: "\n").map(String.init).sorted()
        }

        private func texts(_ space: Workspace, _ file: String) async throws -> [String: String] {
            let program = """
                import sys, struct
                data = open(sys.argv[1], 'rb').read()
                at = 8
                while at + 12 <= len(data):
                    size, kind = struct.unpack('>I4s', data[at:at + 8])
                    if kind == b'tEXt': print(data[at + 8:at + 8 + size].replace(b'\\0', b'\\t').decode())
                    at += size + 12
                """
            let output = try await Command(arguments: ["/usr/bin/python3", "-c", program, file]).succeed()
            return output.split(separator: "\n").reduce(into: [:]) { texts, line in
                let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2 { texts[String(parts[0])] = String(parts[1]) }
            }
        }
    }
}

extension String {
    /// Without the newline that commands end with.
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
