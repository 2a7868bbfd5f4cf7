import Foundation
import Testing

extension EndToEnd {
    /// What is known of documents: types, dates, tags, by commands and by attributes.
    @Suite("Metadata", .timeLimit(.minutes(5)))
    struct MetadataTests {
        /// A drive whose provider can be taken away.
        private static func withProvider(_ body: (Workspace, Drive) async throws -> Void) async throws {
            try await Workspace.use { space in
                let drive = try await space.drive(provider: "\(space.root)/shared")
                try await drive.mount()
                try await body(space, drive)
            }
        }

        @Test("info tells all by Apple's names of a document that is not here, while its provider is away")
        func infoOfDataless() async throws {
            try await Self.withProvider { space, drive in
                try await drive.sh("mkdir d; printf '%s' '%PDF-1.7 x' > d/paper.pdf; touch -d @1000000000 d/paper.pdf")
                try await drive.sync()
                try await drive.quire("evict", "d/paper.pdf").require(0)
                // Whoever asks it for content now gets none.
                try await space.sh("mv shared away")
                let info = try await drive.json("info", "d/paper.pdf").only
                #expect(try info("type").string == "com.adobe.pdf")
                #expect(try info("modified").string == "2001-09-09T01:46:40.000Z")
                #expect(!info.has("generation"))
                let attributes = try info("attributes")
                #expect(try attributes("kMDItemFSName").string == "paper.pdf")
                #expect(try attributes("kMDItemFSSize").int == 10)
                #expect(try attributes("kMDItemContentType").string == "com.adobe.pdf")
                #expect(try attributes("kMDItemContentTypeTree").array.map { try $0.string }.contains("public.content"))
                #expect(try attributes("kMDItemKind").string == "PDF document")
                #expect(try attributes("kMDItemFSContentChangeDate").string == "2001-09-09T01:46:40.000Z")
                #expect(try attributes("NSMetadataItemURLKey").string == "file://\(drive.mountpoint)/d/paper.pdf")
                let prefix = "NSMetadataUbiquitousItem"
                #expect(
                    try attributes(prefix + "DownloadingStatusKey").string
                        == "NSMetadataUbiquitousItemDownloadingStatusNotDownloaded")
                #expect(try attributes(prefix + "PercentDownloadedKey").int == 0)
                #expect(try attributes(prefix + "PercentUploadedKey").int == 100)
                #expect(try attributes(prefix + "IsUploadedKey").bool)
                let text = try await drive.quire("info", "d/paper.pdf").require(0).output
                #expect(text.contains("kMDItemKind") && text.contains("= PDF document"))
                for (name, value) in [
                    ("type", "com.adobe.pdf"), ("percent-downloaded", "0"), ("percent-uploaded", "100"),
                    ("uploaded", "1"), ("generation", ""), ("error", ""),
                ] {
                    #expect(
                        try await drive.sh("getfattr --only-values -n user.quire.\(name) d/paper.pdf") == value,
                        "\(name)")
                }
                #expect(try await drive.sh("stat -c '%s %Y' d/paper.pdf").hasPrefix("10 1000000000"))
                let status = try await drive.json("status", "d/paper.pdf").only
                #expect(try status("state").string == "dataless" && status("materialized").int == 0)
            }
        }

        @Test("asking in any way opens no document at the provider; reading one opens it")
        func noReads() async throws {
            try await Self.withProvider { space, drive in
                try await drive.sh(
                    "mkdir d; echo text > d/doc; echo nameless > nameless; setfattr -n user.xdg.tags -v a d/doc")
                try await drive.sync()
                try await drive.quire("evict", "d").require(0)
                try await drive.quire("evict", "nameless").require(0)
                func opens(_ command: String) async throws -> String {
                    let script = "\(Machine.programs)/count_opens.py"
                    return try await drive.sh("/usr/bin/python3 \(script) '\(space.root)/shared' sh -c '\(command)'")
                        .trimmingCharacters(in: .whitespacesAndNewlines)
                }
                for command in [
                    #""$QUIRE" info d/doc nameless d"#, #""$QUIRE" info --json d/doc"#, #""$QUIRE" tag list d/doc"#,
                    #""$QUIRE" find "kMDItemContentTypeTree == public.text || tags == a""#,
                    "for a in type created added generation percent-downloaded state error; do getfattr -n user.quire.$a d/doc; done",
                    "getfattr -d d/doc; stat d/doc nameless; ls -l d",
                ] {
                    #expect(try await opens(command) == "0", "\(command)")
                    #expect(try await drive.json("status", "d/doc").only("materialized").int == 0, "\(command)")
                }
                #expect(try await opens("cat d/doc") != "0")
            }
        }

        @Test("info tells single attributes by either name, and says which there are")
        func infoByName() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo x > a.txt; echo y > b.png")
                let text = try await drive.quire(
                    "info", "--name", "kmditemcontenttype", "-name", "kind", "a.txt", "b.png"
                ).require(0).output
                let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
                #expect(
                    lines == [
                        "kMDItemContentType = public.plain-text", "kind = file", "kMDItemContentType = public.png",
                        "kind = file",
                    ])
                let json = try await drive.json("info", "--name", "checksum", "--name", "kMDItemUserTags", "a.txt").only
                #expect(try json("path").string == "a.txt")
                #expect(try json("kMDItemUserTags").array.isEmpty && json.has("checksum") && !json.has("size"))
                let wrong = await drive.quire("info", "--name", "colour", "a.txt")
                #expect(wrong.status == 64 && wrong.errors.contains("kMDItemFSName"))
            }
        }

        @Test("the generation changes with content, a directory's with its entries, and with nothing else")
        func generation() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir d; echo x > d/f")
                try await drive.sync()
                func generation(_ path: String) async throws -> String {
                    try await drive.sh("getfattr --only-values -n user.quire.generation \(path)")
                }
                let (file, directory) = (try await generation("d/f"), try await generation("d"))
                try await drive.sh("chmod 600 d/f; setfattr -n user.a -v b d/f; cat d/f > ../out; ln -s x l")
                #expect(try await generation("d/f") == file)
                #expect(try await generation("d") == directory)
                try await drive.quire("evict", "d/f").require(0)
                #expect(try await generation("d/f") == "")
                try await drive.sh("cat d/f > ../out")
                #expect(try await generation("d/f") == file)
                try await drive.sh("echo y > d/f")
                #expect(try await generation("d/f") != file)
                let entries = try await generation("d")
                try await drive.sh("touch d/g")
                #expect(try await generation("d") != entries)
            }
        }

        @Test("tags are added, removed, listed and found, and stay through rename and safe-save")
        func tags() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo x > a; echo y > b; mkdir d")
                try await drive.quire("tag", "add", "red, two words", "a", "d").require(0)
                try await drive.quire("tag", "add", "blue,red", "\(drive.mountpoint)/a").require(0)
                #expect(try await drive.quire("tag", "list", "a").require(0).output == "red\ntwo words\nblue\n")
                #expect(
                    try await drive.quire("tag", "list", "a", "b").require(0).output == "a: red, two words, blue\nb: \n"
                )
                #expect(
                    try await drive.json("tag", "list", "d").only("tags").array.map { try $0.string } == [
                        "red", "two words",
                    ])
                try await drive.quire("tag", "remove", "two words", "a").require(0)
                #expect(try await drive.quire("find", #"kMDItemUserTags == "two words""#).require(0).output == "d\n")
                try await drive.sh("echo new > a.tmp~; mv a.tmp~ a; mv a c")
                #expect(try await drive.quire("tag", "list", "c").require(0).output == "red\nblue\n")
                #expect(try await drive.quire("find", "tags == blue").require(0).output == "c\n")
                #expect(await drive.quire("tag", "add", "x", "missing").status == 66)
                #expect(await drive.quire("tag", "add", ", ", "c").status == 64)
                #expect(await drive.quire("tag", "add", String(repeating: "x", count: 256), "c").status == 64)
                try await drive.unmount()
                try await drive.quire("tag", "add", "stopped", "b").require(0)
                #expect(try await drive.quire("tag", "list", "b").require(0).output == "stopped\n")
            }
        }

        @Test("file managers see tags as user.xdg.tags and set them there; copies carry them")
        func tagAttribute() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo x > a; echo y > b; mkdir d")
                #expect(
                    try await drive.sh("getfattr -d a; getfattr -n user.xdg.tags a 2>&1 || true").contains(
                        "No such attribute"))
                try await drive.quire("tag", "add", "red,work", "a").require(0)
                #expect(try await drive.sh("getfattr -d a").contains("user.xdg.tags=\"red,work\""))
                try await drive.sh("setfattr -n user.xdg.tags -v 'blue,deep sea' b; setfattr -n user.other -v 1 b")
                #expect(try await drive.quire("tag", "list", "b").require(0).output == "blue\ndeep sea\n")
                #expect(try await drive.sh("getfattr --only-values -n user.quire.tags b") == "blue,deep sea")
                let listed = try await drive.sh("getfattr -d b")
                #expect(listed.contains("user.xdg.tags=\"blue,deep sea\"") && listed.contains("user.other"))
                try await drive.sh("cp -a b ../copy; cp -a ../copy d/back")
                #expect(try await drive.sh("getfattr --only-values -n user.xdg.tags ../copy") == "blue,deep sea")
                #expect(try await drive.quire("find", #"tags == "deep sea""#).require(0).output == "b\nd/back\n")
                try await drive.sh("setfattr -x user.xdg.tags b")
                #expect(try await drive.quire("tag", "list", "b").require(0).output == "")
                #expect(
                    try await drive.sh("getfattr -d b; setfattr -x user.xdg.tags a; getfattr -d a").contains("xdg")
                        == false)
                // The document stays what it is when an editor saves it.
                try await drive.sh("setfattr -n user.xdg.tags -v kept a; echo new > s; mv s a")
                #expect(try await drive.sh("getfattr --only-values -n user.xdg.tags a") == "kept")
                // What a disk answers where there are none.
                #expect(
                    try await drive.sh("echo > n; setfattr -x user.xdg.tags n 2>&1 || true").contains(
                        "No such attribute"))
            }
        }

        @Test("documents are found by type, by name or by content, whether they are here or not")
        func types() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    "mkdir d; echo > d/a.png; echo > b.JPG; echo text > c.txt; printf '%s' '%PDF-1.7' > nameless")
                try await drive.sync()
                try await drive.quire("evict", "d/a.png").require(0)
                func find(_ condition: String) async throws -> String {
                    try await drive.quire("find", condition).require(0).output
                }
                #expect(try await find(#"kMDItemContentTypeTree == "public.image""#) == "b.JPG\nd/a.png\n")
                #expect(try await find(#"kMDItemContentType == "public.plain-text""#) == "c.txt\n")
                #expect(try await find(#"contentType == "public.folder""#) == "d\n")
                try await eventually("content is looked at", seconds: 30) {
                    try await find(#"kMDItemContentType == "com.adobe.pdf""#) == "nameless\n"
                }
                try await drive.sh("mv c.txt c.html")
                #expect(try await find(#"kMDItemContentTypeTree == "public.html""#) == "c.html\n")
            }
        }
    }
}
