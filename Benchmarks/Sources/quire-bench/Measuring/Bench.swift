import Glibc

/// The subjects in one place, side by side, and the rows that have run on them.
///
/// Row after row; within a row round after round, and within a round subject after subject. Each round has a directory
/// of its own that later rows go on in: nothing is made where something was just removed.
final class Bench {
    let subjects: [Subject]
    private let root: String
    private let sizes: Sizes
    private let fixtures: Fixtures
    /// What has run where, so that a row's requirements are run once.
    private var done: Set<Step> = []
    /// Subjects that could not go on, and why.
    private(set) var notes: [String] = []
    /// Rows after which the drive was still uploading when others were measured.
    private(set) var late: Set<String> = []

    private struct Step: Hashable {
        let subject: Subject.Kind
        let round: Int
        let row: String
    }

    /// - Parameter root: a fresh directory in the place to measure.
    init(_ options: Options, root: String) throws {
        self.root = root
        sizes = options.sizes
        Self.allowDescriptors()
        fixtures = try Fixtures(in: root, entries: sizes.entries)
        let passthroughLL = try PassthroughLL.build(in: root)
        var subjects: [Subject] = []
        for kind in Subject.Kind.allCases where options.wants(kind) {
            if kind == .passthroughLL, passthroughLL == nil {
                notes.append("passthrough_ll is left out: \(PassthroughLL.source) is missing")
            } else if kind == .bindfs, !Program.has("bindfs") {
                notes.append("bindfs is left out: it is not installed")
            } else {
                subjects.append(
                    try Subject(
                        kind, root: "\(root)/\(kind.rawValue)", quire: options.quire,
                        passthroughLL: passthroughLL ?? ""))
            }
        }
        self.subjects = subjects
        for subject in subjects { try subject.start() }
    }

    func stop() {
        for subject in subjects { subject.stop() }
    }

    /// Whether a row is measured on a subject: where passthrough makes no difference, one form of the drive is enough.
    static func has(_ row: Row, _ kind: Subject.Kind) -> Bool { row.isContent || kind != .quireWithoutPassthrough }

    /// Runs a row once on a subject.
    ///
    /// - Parameter measure: is given the row's measured part; what it returns is returned.
    /// - Returns: nil when it failed, which `notes` then tells.
    func run<Result>(
        _ row: Row, on subject: Subject, round: Int, measure: (() throws -> Double) throws -> Result
    ) -> Result? {
        do {
            return try Watchdog.watching(subject.connection) {
                try attempt(row, on: subject, round: round, measure: measure)
            }
        } catch {
            notes.append("\(row.key) on \(subject.kind.rawValue): \(error)")
            say(notes.last ?? "")
            subject.stop()
            // When it cannot start again, the next row says so.
            try? subject.start()
            return nil
        }
    }

    private func attempt<Result>(
        _ row: Row, on subject: Subject, round: Int, measure: (() throws -> Double) throws -> Result
    ) throws -> Result {
        let place = Place(directory: "\(subject.directory)/round\(round)", sizes: sizes, fixtures: fixtures)
        if mkdir(place.directory, 0o755) != 0, errno != EEXIST { throw BenchmarkError("mkdir", place.directory) }
        for key in row.requires where !done.contains(Step(subject: subject.kind, round: round, row: key)) {
            guard let needed = Row.keyed(key) else { throw BenchmarkError("no row is named \(key)") }
            _ = try attempt(needed, on: subject, round: round) { try $0() }
        }
        try freshDescriptors(subject)
        try row.prepare(place)
        if row.isCold { try forget(subject) }
        if row.isReading { subject.rest() } else { _ = try subject.settle() }
        try flush()
        let result = try measure { try row.run(place) }
        done.insert(Step(subject: subject.kind, round: round, row: row.key))
        if !row.isReading, try !subject.settle() { late.insert(row.key) }
        return result
    }

    /// passthrough_ll keeps a descriptor for each file that the kernel knows: where they are few it starts anew.
    private func freshDescriptors(_ subject: Subject) throws {
        guard subject.kind == .passthroughLL, Self.descriptorLimit().rlim_max < 200_000 else { return }
        subject.stop()
        try subject.start()
    }

    /// The kernel forgets names and inodes, of all file systems alike.
    private func forget(_ subject: Subject) throws {
        let file = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC)
        if file >= 0 {
            defer { close(file) }
            guard write(file, "2", 1) == 1 else { throw BenchmarkError("write", "/proc/sys/vm/drop_caches") }
        } else {
            subject.stop()
            try subject.start()
        }
    }

    /// What others left to be written is not written meanwhile.
    private func flush() throws { try Program.run("sync", "-f", root) }

    private static func descriptorLimit() -> rlimit {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit
    }

    private static func allowDescriptors() {
        var limit = descriptorLimit()
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
