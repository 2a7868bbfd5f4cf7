import Foundation
import Testing

extension EndToEnd {
    /// What is saved is found: by queries that start afterwards, and by those that run.
    @Suite("Queries")
    struct QueryTests {
        @Test("A running query tells what every program on the mount does, and a new one has it")
        func live() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let printed = try await drive.python(
                    "live.py", [Machine.quire, drive.home, drive.mountpoint, "40"], limitSeconds: 120
                ).succeed()
                let result = try JSON(printed)
                #expect(try result("missed").int == 0)
                // No measurement: a query that waits for its next look would take seconds.
                #expect(try result("median").double < 500, "\(printed)")
            }
        }

        @Test("find and quire find agree after a tree is unpacked, moved and half removed")
        func sameAsFind() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    """
                    for d in a b c; do mkdir -p $d/deep; for n in $(seq 1 60); do echo $n > $d/deep/$n.txt; done; done
                    mv a b/moved; rm b/deep/1*; cp -a c c2; ln -s b/moved link
                    """)
                for (condition, arguments) in [
                    ("kind == file", "-type f"), (#"name == "*1*""#, "-name '*1*'"),
                    ("size > 2", "-type f -size +2c -o -type l"),
                    (#"name == "?.txt" && path == "b/*""#, "-path './b/*' -name '?.txt'"),
                ] {
                    let expected = try await drive.sh("find . -mindepth 1 \\( \(arguments) \\) | sed 's,^./,,' | sort")
                    let found = try await drive.quire("find", condition).require(0).output
                    #expect(
                        found.split(separator: "\n").sorted() == expected.split(separator: "\n").sorted(),
                        "\(condition)")
                    let count = try await drive.quire("find", condition, "--count").require(0).output
                    #expect(count == "\(expected.split(separator: "\n").count)\n")
                }
                let first = try await drive.quire("find", "name == *.txt", "--sort", "-name", "--limit", "2").require(0)
                    .output
                #expect(first == "b/deep/9.txt\nb/moved/deep/9.txt\n")
                for arguments in [
                    ["find", "--sort", "colour"], ["find", "--limit", "0"], ["find", "--live", "--count"],
                ] {
                    #expect(await drive.quire(arguments).status == 64)
                }
            }
        }
    }
}
