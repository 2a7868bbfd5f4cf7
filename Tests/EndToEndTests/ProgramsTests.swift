import Testing

extension EndToEnd {
    /// The command, which does some searches by itself, and the program that it becomes for all else.
    @Suite("Two programs")
    struct ProgramsTests {
        private static let whole = Machine.quire + "-main"

        @Test("The command prints what the whole program prints, names that are no text and odd ones among them")
        func sameOutput() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    """
                    mkdir -p deep/er; touch $'deep/a\\xffb' $'deep/\\xc3' 'deep/é ü' $'deep/line\\nend' $'deep/er/tab\\t' $'\\x7f' \\
                        'quote"s' 'back\\slash' plain; for n in $(seq 1 3000); do : > deep/er/$n.txt; done
                    """)
                for arguments in [
                    [], ["*"], ["-0"], ["*", "-0"], ["--count"], ["--limit", "4"], ["*.txt", "--limit", "2500", "-0"],
                    ["-name", "*1*", "--count"], [#"name == "*TAB*"c"#], ["nothing"], ["*\\*"], ["?"], ["name =="],
                    ["a", "-name", "b"],
                    ["size < 5 && name != *.txt"], ["content == word"], ["--limit", "none"],
                ] {
                    let outcome = await drive.quire(["find"] + arguments)
                    let expected = await Command(
                        arguments: [Self.whole, "find"] + arguments, environment: drive.environment
                    ).run()
                    #expect(outcome.status == expected.status, "\(arguments)")
                    #expect(outcome.errors == expected.errors, "\(arguments)")
                }
                // Byte for byte: what is no text cannot be compared as text.
                try await drive.sh(
                    """
                    for arguments in '' '-0' '* -0' '--count' '--limit 4' '*.txt --limit 2500' '*b' '*b -0'; do
                        set -f; cmp <("$QUIRE" find $arguments) <("$QUIRE-main" find $arguments)
                    done
                    cmp <("$QUIRE" find $'*\\xff*' -0) <("$QUIRE-main" find $'*\\xff*' -0)
                    test "$("$QUIRE" find $'*\\xff*' --count)" = "$("$QUIRE-main" find $'*\\xff*' --count)"
                    test "$("$QUIRE" find -0 | tr -dc '\\0' | wc -c)" = "$("$QUIRE" find --count)"
                    """)
                try await drive.unmount()
                #expect(try await drive.quire("find", "*.txt", "--count").require(0).output == "3000\n")
            }
        }

        @Test("The command becomes the whole program for what it does not do, with its exit code and its name")
        func becomes() async throws {
            try await Workspace.use { space in
                for arguments in [["--version"], ["find", "--limit", "0"], ["nonsense"], ["help", "find"], []] {
                    let outcome = await Command(arguments: [Machine.quire] + arguments).run()
                    let expected = await Command(arguments: [Self.whole] + arguments).run()
                    #expect(outcome.status == expected.status && outcome.output == expected.output, "\(arguments)")
                    #expect(outcome.errors == expected.errors, "\(arguments)")
                }
                // As mount(8) calls it.
                try await space.sh("ln -s '\(Machine.quire)' mount.fuse.quire")
                let outcome = await Command(arguments: ["\(space.root)/mount.fuse.quire", "find", "-name", "x"]).run()
                #expect(outcome.status == 64 && outcome.errors.contains("mount.fuse.quire HOME MOUNTPOINT"))
                try await space.sh("cp '\(Machine.quire)' alone")
                let alone = await Command(arguments: ["\(space.root)/alone", "status"]).run()
                #expect(alone.status == 69 && alone.errors.contains("quire-main"))
            }
        }
    }
}
