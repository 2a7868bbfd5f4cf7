import Glibc

/// Reads shared-mime-info's files. What cannot be read, is too large or is malformed is left out: types are then known by
/// fewer names.
struct MimeDatabaseReader {
    /// Files larger than this are not read; Debian's largest has 36 KB.
    static let largestFile = 16 << 20
    /// Patterns, aliases and parents each, over all directories.
    static let mostLines = 100_000
    private static let longestLine = 1024

    private(set) var database = MimeDatabase()
    /// Types whose patterns, or whose rules, in directories that count less are void.
    private var withoutPatterns: Set<String> = []
    private var withoutMagic: Set<String> = []

    /// Where databases lie, the user's own first. (XDG Base Directory Specification)
    static func directories(environment: (String) -> String?) -> [String] {
        XDGDirectories.data("mime", environment: environment)
    }

    /// Adds what lies in a directory; earlier ones count more.
    mutating func add(_ directory: String) {
        guard let globs = Self.read(directory + "/globs2") else { return }
        database.directories.append(directory)
        sign(globs)
        addPatterns(globs)
        if let subclasses = Self.read(directory + "/subclasses") {
            sign(subclasses)
            forPairs(subclasses) { $0.parents[$1, default: []].append($2) }
        }
        if let aliases = Self.read(directory + "/aliases") {
            sign(aliases)
            forPairs(aliases) { if $0.aliases[$1] == nil { $0.aliases[$1] = $2 } }
        }
        if let magic = Self.read(directory + "/magic") {
            sign(magic)
            addMagic(magic)
        }
    }

    /// `weight:type:pattern[:flags]`
    private mutating func addPatterns(_ bytes: [UInt8]) {
        var cleared: Set<String> = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard line.count <= Self.longestLine, database.patterns.count < Self.mostLines, fields.count >= 3,
                let weight = Int(String(decoding: fields[0], as: UTF8.self)), let mime = Self.mime(fields[1])
            else { continue }
            if fields[2].elementsEqual("__NOGLOBS__".utf8) {
                cleared.insert(mime)
            } else if !withoutPatterns.contains(mime) {
                let isCaseSensitive =
                    fields.count > 3
                    && fields[3].split(separator: UInt8(ascii: ",")).contains {
                        $0.elementsEqual("cs".utf8)
                    }
                let glob = isCaseSensitive ? Array(fields[2]) : fields[2].map(\.asciiLowercased)
                database.patterns.append(
                    MimeDatabase.Pattern(mime: mime, glob: glob, weight: weight, isCaseSensitive: isCaseSensitive))
            }
        }
        withoutPatterns.formUnion(cleared)
    }

    private mutating func addMagic(_ bytes: [UInt8]) {
        let sections = MagicReader.sections(bytes)
        let cleared = Set(sections.filter(\.isClearing).map(\.mime))
        database.magic += sections.filter { !$0.isClearing && !withoutMagic.contains($0.mime) }
        // Stable: of equal priority, those of directories that count more come first.
        database.magic = database.magic.enumerated().sorted { left, right in
            (-left.element.priority, left.offset) < (-right.element.priority, right.offset)
        }.map(\.element)
        withoutMagic.formUnion(cleared)
    }

    /// Lines of two MIME types each.
    private mutating func forPairs(_ bytes: [UInt8], _ body: (inout MimeDatabase, String, String) -> Void) {
        for line in bytes.split(separator: UInt8(ascii: "\n")).prefix(Self.mostLines) {
            let fields = line.split(separator: UInt8(ascii: " "))
            guard line.count <= Self.longestLine, fields.count == 2, let first = Self.mime(fields[0]),
                let second = Self.mime(fields[1])
            else { continue }
            body(&database, first, second)
        }
    }

    private mutating func sign(_ bytes: [UInt8]) {
        database.signature = bytes.reduce(database.signature, FNV1a.step)
    }

    /// A MIME type in lower case; nil for what is none.
    static func mime(_ bytes: some Collection<UInt8>) -> String? {
        let lowered = bytes.map(\.asciiLowercased)
        guard lowered.count <= 255, lowered.count(where: { $0 == UInt8(ascii: "/") }) == 1, lowered.first != 0x2F,
            lowered.last != 0x2F, lowered.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return String(decoding: lowered, as: UTF8.self)
    }

    /// The whole of a regular file; nil where there is none, or a larger one.
    static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= largestFile else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled)
            }
            guard count > 0 else { break }
            filled += count
        }
        return Array(bytes[..<filled])
    }
}

extension MimeDatabase {
    /// Reads the databases below these directories, those that count more first.
    package static func read(_ directories: [String]) -> MimeDatabase {
        var reader = MimeDatabaseReader()
        for directory in directories { reader.add(directory) }
        return reader.database
    }

    /// Reads the user's and the system's.
    package static func readInstalled() -> MimeDatabase {
        read(MimeDatabaseReader.directories { name in getenv(name).map { String(cString: $0) } })
    }
}
