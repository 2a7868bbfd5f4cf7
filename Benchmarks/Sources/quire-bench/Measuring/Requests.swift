import Glibc

/// Counts the requests that the kernel sends to a file system, by the kernel's own tracepoint.
///
/// Needs root and tracefs. FORGET is not counted: it goes in batches that nobody waits for.
final class Requests {
    private let instance: String
    private let names: [Int: String]

    init() throws(BenchmarkError) {
        let tracing = "/sys/kernel/tracing"
        let event = "events/fuse/fuse_request_send"
        if access("\(tracing)/\(event)", F_OK) != 0 {
            try Program.run("mount", "-t", "tracefs", "nodev", tracing)
        }
        instance = "\(tracing)/instances/quire-bench-\(getpid())"
        names = Self.operations(try Self.text("\(tracing)/\(event)/format"))
        guard mkdir(instance, 0o700) == 0 else { throw BenchmarkError("mkdir", instance) }
        try set("buffer_size_kb", "32768")
        try set("\(event)/filter", "0")
        try set("\(event)/enable", "1")
    }

    deinit { rmdir(instance) }

    /// Runs a body and returns how many requests of which kind were sent to a connection meanwhile.
    func counting(_ connection: UInt32, _ body: () throws -> Void) throws -> [String: Int] {
        // A number that the kernel prints as it is in `connection`.
        try set("events/fuse/fuse_request_send/filter", "connection == \(connection)")
        try set("trace", "")
        try set("tracing_on", "1")
        try body()
        try set("tracing_on", "0")
        var counts: [String: Int] = [:]
        guard let file = fopen("\(instance)/trace", "re") else { throw BenchmarkError("open", "\(instance)/trace") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, Int32(line.count), file) != nil {
            guard let at = strstr(line, " opcode ") else { continue }
            let code = Int(strtol(at + 8, nil, 10))
            counts[names[code] ?? "\(code)", default: 0] += 1
        }
        return counts
    }

    private func set(_ name: String, _ value: String) throws(BenchmarkError) {
        let path = "\(instance)/\(name)"
        let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard file >= 0 else { throw BenchmarkError("open", path) }
        defer { close(file) }
        guard write(file, value, value.utf8.count) == value.utf8.count else { throw BenchmarkError("write", path) }
    }

    /// Reads `{1, "FUSE_LOOKUP"}, …` of the event's format.
    private static func operations(_ format: String) -> [Int: String] {
        var names: [Int: String] = [:]
        for part in format.split(separator: "{").dropFirst() {
            let words = part.split(separator: ",")
            guard words.count > 1, let code = Int(words[0]) else { continue }
            let name = words[1].filter { $0.isLetter || $0.isNumber || $0 == "_" }
            names[code] = name.hasPrefix("FUSE_") ? String(name.dropFirst(5)) : name
        }
        return names
    }

    private static func text(_ path: String) throws(BenchmarkError) -> String {
        guard let file = fopen(path, "re") else { throw BenchmarkError("open", path) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
