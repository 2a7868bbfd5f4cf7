import Glibc

/// Trees larger than anyone's: whether the drive stays usable, with 1,024 descriptors.
///
/// Uploads wait meanwhile: what is measured is the driver and the index.
struct Scale {
    private let sizes: ScaleSizes
    private let drive: Subject
    private let peer: Subject?
    private var table = ScaleTable()

    /// - Parameter root: a fresh directory.
    init(_ options: Options, root: String) throws {
        sizes = options.isQuick ? .quick : .full
        drive = try Subject(
            .quire, root: "\(root)/quire", quire: options.quire, passthroughLL: "", descriptors: Self.descriptors)
        peer = try PassthroughLL.build(in: root).map { program in
            try Subject(.passthroughLL, root: "\(root)/passthrough_ll", quire: "", passthroughLL: program)
        }
    }

    /// Runs everything and returns the table and what was missed.
    mutating func run() throws -> (markdown: String, missed: [String]) {
        defer {
            drive.stop()
            peer?.stop()
        }
        try manyFiles()
        attempt { try $0.wideDirectory() }
        attempt { try $0.deepTree() }
        attempt { try $0.largeFile() }
        attempt { try $0.manyClients() }
        return (table.markdown, table.missed)
    }

    /// What does not work is in the table, too.
    private mutating func attempt(_ step: (inout Scale) throws -> Void) {
        do {
            try Watchdog.watching(drive.connection) { try step(&self) }
        } catch {
            table.add("\(error)")
        }
    }

    static let descriptors = 1024

    /// The tree is made in the store while the drive is stopped: the rescan finds it.
    private mutating func manyFiles() throws {
        try drive.start()
        drive.stop()
        try drive.delayUploads()
        try Wide.make(drive.storage, directories: sizes.directories, files: sizes.filesEach)
        let count = sizes.directories * (sizes.filesEach + 1)
        table.add("mount over \(Number.grouped(count)) entries", try timed { try drive.start() }, atMost: 5)
        table.add("find while the rescan runs", try find(drive))
        table.add("the rescan ends after", try timed { try drive.waitForRescan() })
        let again = try find(drive)
        let memory = drive.residentMegabytes
        try forget()
        let first = try find(drive)
        table.add("find, nothing known to the kernel", first, atMost: try peerFind(entries: count).map { 2 * $0 })
        table.add("find again", again)
        table.add("memory of the daemon afterwards, MB", memory, atMost: 250)
        try forget()
        table.add("memory when the kernel has forgotten, MB", drive.residentMegabytes, atMost: memory)
    }

    private mutating func wideDirectory() throws {
        let directory = "\(drive.directory)/wide"
        let count = sizes.wide
        table.add(
            "create \(Number.grouped(count)) files in a directory",
            try timed {
                try Wide.makeFiles(directory, count: count)
            })
        for (name, command) in [("ls -f", ["ls", "-f"]), ("ls -l", ["ls", "-l"]), ("ls -l again", ["ls", "-l"])] {
            table.add("\(name) of it", try timed { try Program.run(command + [directory]) })
        }
        table.add("rm -r of it", try timed { try Program.run("rm", "-r", directory) })
    }

    private mutating func deepTree() throws {
        let path = drive.directory + String(repeating: "/level", count: 100)
        table.add(
            "a tree 100 deep: make, write, read, remove",
            try timed {
                try Program.script("mkdir -p \(path); echo deep > \(path)/file; grep -q deep \(path)/file")
                try Program.run("rm", "-r", "\(drive.directory)/level")
            })
    }

    private mutating func largeFile() throws {
        let file = "\(drive.directory)/sparse"
        table.add(
            "a sparse file of 100 GB: make, write its end, read it, remove",
            try timed {
                try Program.script(
                    """
                    truncate -s 100G \(file); printf end | dd of=\(file) bs=1 seek=$((100 * 1024**3 - 3)) conv=notrunc \
                    status=none; test "$(tail -c 3 \(file))" = end; test "$(stat -c %s \(file))" = $((100 * 1024**3)); rm \(file)
                    """)
            })
    }

    private mutating func manyClients() throws {
        let base = "\(drive.directory)/clients"
        guard mkdir(base, 0o755) == 0 else { throw BenchmarkError("mkdir", base) }
        let clients = try (0..<sizes.clients).map { try Client(in: "\(base)/\($0)", files: 10) }
        table.add(
            "\(Number.grouped(sizes.clients)) clients at once, 60 calls each",
            timed {
                Client.runTogether(clients)
            })
        for client in clients { if let error = client.error { throw error } }
    }

    private func find(_ subject: Subject) throws -> Double {
        try Watchdog.watching(subject.connection) { try timed { try Program.run("find", subject.directory) } }
    }

    /// passthrough_ll's time for as many entries; its descriptors may be too few for them, so it is taken from less.
    private func peerFind(entries: Int) throws -> Double? {
        guard let peer else { return nil }
        let directories = 12
        try Wide.make(peer.storage, directories: directories, files: sizes.filesEach)
        try peer.start()
        let seconds = try find(peer)
        peer.stop()
        return seconds * Double(entries) / Double(directories * (sizes.filesEach + 1))
    }

    /// The kernel forgets what it may, and the drive hears of it.
    private func forget() throws {
        let path = "/proc/sys/vm/drop_caches"
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw BenchmarkError("open", path) }
        defer { close(file) }
        guard write(file, "2", 1) == 1 else { throw BenchmarkError("write", path) }
        drive.rest()
    }
}

/// How much is made.
struct ScaleSizes {
    let directories: Int
    let filesEach: Int
    let wide: Int
    let clients: Int

    static let full = ScaleSizes(directories: 1000, filesEach: 1000, wide: 200_000, clients: 1000)
    static let quick = ScaleSizes(directories: 20, filesEach: 1000, wide: 5000, clients: 100)
}

/// Many empty files.
private enum Wide {
    static func make(_ root: String, directories: Int, files: Int) throws(BenchmarkError) {
        for number in 0..<directories { try makeFiles("\(root)/dir\(number)", count: files) }
    }

    static func makeFiles(_ directory: String, count: Int) throws(BenchmarkError) {
        guard mkdir(directory, 0o755) == 0 else { throw BenchmarkError("mkdir", directory) }
        for number in 0..<count {
            let path = "\(directory)/file\(number)"
            let file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
            guard file >= 0, close(file) == 0 else { throw BenchmarkError("create", path) }
        }
    }
}
