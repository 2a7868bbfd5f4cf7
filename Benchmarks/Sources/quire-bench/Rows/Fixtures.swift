import Glibc

/// What programs work on: a tree like a project's sources, as an archive and as a repository. The same in every run.
struct Fixtures: Sendable {
    let archive: String
    let repository: String

    /// Makes them below a fresh directory.
    init(in directory: String, entries: Int) throws(BenchmarkError) {
        archive = "\(directory)/tree.tar"
        repository = "\(directory)/repository.git"
        let tree = "\(directory)/tree"
        var maker = TreeMaker()
        try maker.make(tree, entries: entries)
        try Program.script(
            """
            export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
            cd \(tree)
            tar cf ../tree.tar --sort=name --mtime=2026-01-01 --owner=0 --group=0 .
            git init -q
            git config gc.auto 0
            git add .
            git -c user.name=Bench -c user.email=bench@example.org commit -q -m Sources
            cd ..
            git clone -q --bare --no-local tree repository.git
            rm -rf tree
            """)
    }
}

/// Writes a tree: one directory for twelve files, some symlinks, sizes of around 4 KiB with a long tail.
private struct TreeMaker {
    private var state: UInt64 = 2026
    private static let words = [
        "let", "value", "return", "the", "of", "struct", "index", "= 0", "path", "{", "}", "for", "in", "(count)", "//",
        "if", "guard", "else", "throws", "String",
    ]

    mutating func make(_ root: String, entries: Int) throws(BenchmarkError) {
        try makeDirectory(root)
        var directories = [root]
        for number in 1..<entries {
            let parent = directories[below(directories.count)]
            switch number % 100 {
            case 0, 12, 25, 37, 50, 62, 75, 87:
                // Shallow and wide, some branches deep.
                let above = directories[below(2) == 0 ? 0 : below(directories.count)]
                let path = "\(above)/dir\(number)"
                try makeDirectory(path)
                directories.append(path)
            case 99:
                guard symlink("file\(number - 1).swift", "\(parent)/link\(number)") == 0 else {
                    throw BenchmarkError("symlink", parent)
                }
            default: try makeFile("\(parent)/file\(number).swift")
            }
        }
    }

    private mutating func makeFile(_ path: String) throws(BenchmarkError) {
        // The product of uniform numbers has many small values and few large.
        let size = 200 + below(100) * below(100) * below(20) / 10 + (below(100) == 0 ? 100_000 : 0)
        var text: [UInt8] = []
        text.reserveCapacity(size + 16)
        while text.count < size {
            text += Self.words[below(Self.words.count)].utf8
            text.append(below(9) == 0 ? 0x0A : 0x20)
        }
        let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, below(20) == 0 ? 0o755 : 0o644)
        guard file >= 0 else { throw BenchmarkError("create", path) }
        defer { close(file) }
        guard write(file, text, text.count) == text.count else { throw BenchmarkError("write", path) }
    }

    private func makeDirectory(_ path: String) throws(BenchmarkError) {
        guard mkdir(path, 0o755) == 0 else { throw BenchmarkError("mkdir", path) }
    }

    private mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
