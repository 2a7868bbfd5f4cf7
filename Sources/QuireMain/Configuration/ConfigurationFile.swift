import QuireCore

/// `config.toml` on disk: read whole, replaced whole.
struct ConfigurationFile: Sendable {
    let path: String
    /// Where the home has what the file said last; nil: nowhere.
    var kept: KeptConfiguration?

    /// What the file says; nil when there is none.
    func read() throws(QuireError) -> ConfigurationReader.Reading? {
        guard let bytes = try DurableFile.read(path) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw QuireError(.usage, "\(path): not UTF-8", remedy: "Correct the file")
        }
        return try ConfigurationReader.read(text, file: path)
    }

    /// Replaces the file.
    func write(_ configuration: Configuration) throws(QuireError) {
        try DurableFile.replace(path, with: Self.bytes(configuration))
    }

    /// Has the home keep what the file says, comments and all.
    func keepCopy() throws(QuireError) {
        guard let kept, let bytes = try DurableFile.read(path) else { return }
        try kept.keep(bytes, of: path)
    }

    /// Reads, changes and replaces the file.
    ///
    /// - Throws: also when the file has keys this version does not know: they would be lost.
    func update(_ change: (inout Configuration) throws(QuireError) -> Void) throws(QuireError) -> Configuration {
        let (former, configuration) = try changed(change)
        guard configuration != former else { return configuration }
        // First: where that fails nothing was changed.
        let last = try kept?.bytes()
        try kept?.keep(Self.bytes(configuration), of: path)
        do {
            try write(configuration)
        } catch {
            try keepAgain(last, after: error)
        }
        return configuration
    }

    /// Has the home keep what it had kept, where that was never configured which it keeps by now.
    private func keepAgain(_ bytes: [UInt8]?, after error: QuireError) throws(QuireError) -> Never {
        do throws(QuireError) {
            try kept?.putBack(bytes)
        } catch let left {
            throw QuireError(error.code, "\(error.message); \(left.message)", remedy: error.remedy)
        }
        throw error
    }

    /// What the file says, and what `update` would make of that.
    func changed(
        _ change: (inout Configuration) throws(QuireError) -> Void
    ) throws(QuireError) -> (former: Configuration, configuration: Configuration) {
        guard let reading = try read() else {
            throw QuireError(
                .notFound, "\(path) is missing", remedy: "`quire mount` makes it, or says how to bring it back")
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

    private static func bytes(_ configuration: Configuration) -> [UInt8] {
        Array(ConfigurationWriter.text(configuration).utf8)
    }
}
