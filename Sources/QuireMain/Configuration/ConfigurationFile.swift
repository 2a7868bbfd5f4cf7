import Glibc
import QuireCore

/// `config.toml` on disk: read whole, replaced whole.
struct ConfigurationFile: Sendable {
    let path: String

    /// What the file says; nil when there is none.
    func read() throws(QuireError) -> ConfigurationReader.Reading? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure("cannot read")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw failure("cannot read") }
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw QuireError(.usage, "\(path): not UTF-8", remedy: "Correct the file")
        }
        return try ConfigurationReader.read(text, file: path)
    }

    /// Replaces the file: written beside it, synced, renamed over, directory synced.
    func write(_ configuration: Configuration) throws(QuireError) {
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        try makeDirectories(directory)
        let staged = "\(path).\(getpid()).new"
        let descriptor = open(staged, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot write") }
        let text = Array(ConfigurationWriter.text(configuration).utf8)
        let isWritten = Glibc.write(descriptor, text, text.count) == text.count && fsync(descriptor) == 0
        let isClosed = close(descriptor) == 0
        guard isWritten, isClosed, rename(staged, path) == 0 else {
            let error = failure("cannot write")
            unlink(staged)
            throw error
        }
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw failure("cannot sync the directory of") }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw failure("cannot sync the directory of") }
    }

    /// Reads, changes and replaces the file.
    ///
    /// - Throws: also when the file has keys this version does not know: they would be lost.
    func update(_ change: (inout Configuration) throws(QuireError) -> Void) throws(QuireError) -> Configuration {
        let (former, configuration) = try changed(change)
        if configuration != former { try write(configuration) }
        return configuration
    }

    /// What the file says, and what `update` would make of that.
    func changed(
        _ change: (inout Configuration) throws(QuireError) -> Void
    ) throws(QuireError) -> (former: Configuration, configuration: Configuration) {
        guard let reading = try read() else {
            throw QuireError(.notFound, "\(path) is missing", remedy: "`quire mount` makes it")
        }
        guard reading.unknownKeys.isEmpty else {
            throw QuireError(
                .usage,
                "\(path) has keys that this version does not know: \(reading.unknownKeys.joined(separator: ", "))",
                remedy: "Rewriting the file would drop them: remove them, or edit the file by hand")
        }
        var configuration = reading.configuration
        try change(&configuration)
        return (reading.configuration, configuration)
    }

    private func makeDirectories(_ directory: String) throws(QuireError) {
        var made = ""
        for part in directory.split(separator: "/") {
            made += "/\(part)"
            guard mkdir(made, 0o700) == 0 || errno == EEXIST else { throw failure("cannot make the directory of") }
        }
    }

    private func failure(_ what: String) -> QuireError {
        QuireError(.unavailable, "\(what) \(path): \(String(cString: strerror(errno)))")
    }
}
