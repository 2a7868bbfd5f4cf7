import Glibc

/// Rows that are whole programs over a tree of sources.
extension Row {
    static let treePrograms: [Row] = [
        Row(
            key: "untar", name: "tar x of the tree", unit: .seconds, target: Target(passthroughLL: 1.3), each: "entry"
        ) { place in
            mkdir(place.path("tree"), 0o755)
            return try timed {
                try Program.run("tar", "xf", place.fixtures.archive, "-C", place.path("tree"))
            }
        },
        warm("find", "find, warm", ["find"]),
        warm("du", "du -s, warm", ["du", "-s"]),
        warm("ls", "ls -lR, warm", ["ls", "-lR"]),
        // grep stops early where its output goes nowhere and it finds something: it must not.
        warm(
            "grep", "grep -r, warm", ["grep", "-r", "no line has these words"], target: Target(), accepting: [1]),
        Row(
            key: "cp", name: "cp -a of the tree", unit: .seconds, target: Target(passthroughLL: 1.3),
            requires: ["untar"], each: "entry"
        ) { place in
            try timed { try Program.run("cp", "-a", place.path("tree"), place.path("copy")) }
        },
        Row(
            key: "clone", name: "git clone", unit: .seconds, target: Target(passthroughLL: 1.3),
            each: "entry"
        ) { place in
            // --no-local: a bare directory beside the repository would link the objects instead.
            try timed {
                try Program.run("git", "clone", "-q", "--no-local", place.fixtures.repository, place.path("clone"))
            }
        },
        Row(
            key: "status", name: "git status", unit: .seconds, target: Target(), requires: ["clone"], isReading: true,
            each: "entry",
            prepare: { place in try gitStatus(place) }
        ) { place in
            try timed { try gitStatus(place) }
        },
    ]

    static let removingPrograms: [Row] = [
        Row(
            key: "rm", name: "rm -rf of the tree", unit: .seconds, target: Target(passthroughLL: 1.3),
            requires: ["untar"], each: "entry"
        ) { place in
            try timed { try Program.run("rm", "-rf", place.path("tree")) }
        }
    ]

    /// A program that goes over the whole tree, measured the third time: the first reads directories, which makes the
    /// kernel ask for their attributes once more in the second.
    private static func warm(
        _ key: String, _ name: String, _ command: [String], target: Target = Target(passthroughLL: 4, bare: 0.5),
        accepting codes: [Int32] = [0]
    ) -> Row {
        Row(
            key: key, name: name, unit: .seconds, target: target, requires: ["untar"], isReading: true,
            each: "entry",
            prepare: { place in
                for _ in 0..<2 { try Program.run(command + [place.path("tree")], accepting: codes) }
            }
        ) { place in
            try timed { try Program.run(command + [place.path("tree")], accepting: codes) }
        }
    }

    private static func gitStatus(_ place: Place) throws {
        try Program.run("git", "-C", place.path("clone"), "status", "--porcelain")
    }
}
