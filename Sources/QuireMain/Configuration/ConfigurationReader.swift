import QuireCore
import QuireSync
import TOMLKit

/// Reads `config.toml`.
struct ConfigurationReader {
    /// A file that was read.
    struct Reading: Sendable, Equatable {
        var configuration: Configuration
        /// Keys that this version does not know, as `section.key`.
        var unknownKeys: [String]
    }

    private let file: String
    private var unknownKeys: [String] = []

    /// Reads the text of the file at the path `file`.
    ///
    /// - Throws: `.usage`, naming the file, and line and column or the key.
    static func read(_ text: String, file: String) throws(QuireError) -> Reading {
        var reader = ConfigurationReader(file: file)
        let configuration = try reader.configuration(reader.parse(text))
        return Reading(configuration: configuration, unknownKeys: reader.unknownKeys)
    }

    private init(file: String) { self.file = file }

    private func parse(_ text: String) throws(QuireError) -> TOMLTable {
        do {
            return try TOMLTable(string: text)
        } catch let error as TOMLParseError {
            let start = error.source.begin
            throw QuireError(
                .usage, "\(file):\(start.line):\(start.column): \(error.description)", remedy: "Correct the file")
        } catch {
            throw QuireError(.usage, "\(file): \(error)", remedy: "Correct the file")
        }
    }

    private mutating func configuration(_ table: TOMLTable) throws(QuireError) -> Configuration {
        let root = Section(file: file, name: "", table: table)
        guard let format = try root.integer("format", in: 1...Int.max) else {
            throw root.wrong("format", "is missing")
        }
        guard format <= Configuration.format else {
            throw QuireError(
                .unavailable,
                "\(file): made by a newer Quire (format \(format); this one knows \(Configuration.format))",
                remedy: "Use the newer version")
        }
        note(
            root,
            known: [
                "format", "drive", "sync", "cache", "coordination", "ephemeral", "thumbnails", "index", "provider",
                "container",
            ])
        let drive = try root.section("drive") ?? Section(file: file, name: "drive", table: TOMLTable())
        note(drive, known: ["device_id", "device_name"])
        var result = Configuration(
            deviceID: try drive.required("device_id"), deviceName: try drive.required("device_name"))
        try readLimits(root, into: &result)
        for section in try root.sections("provider") {
            note(section, known: ["name", "url", "default", "identity", "secret", "accept_lossy"])
            try add(section) { () throws(QuireError) in
                try result.add(
                    Configuration.Provider(
                        name: try section.required("name"), url: try section.required("url"),
                        isDefault: try section.boolean("default") ?? false, identity: try section.string("identity"),
                        secretPlace: try secretPlace(section),
                        acceptsLossy: try section.boolean("accept_lossy") ?? false))
            }
        }
        guard !result.providers.isEmpty else {
            throw QuireError(.usage, "\(file): no [[provider]]", remedy: "Add one with `quire provider add`")
        }
        for section in try root.sections("container") {
            note(section, known: ["id", "name", "provider", "public"])
            let container = try container(section)
            try add(section) { () throws(QuireError) in try result.add(container) }
        }
        return result
    }

    private mutating func readLimits(_ root: Section, into result: inout Configuration) throws(QuireError) {
        if let sync = try root.section("sync") {
            note(
                sync,
                known: [
                    "poll_seconds", "list_seconds", "settle_milliseconds", "parallel", "upload_limit", "download_limit",
                ])
            if let value = try sync.integer("poll_seconds", in: 1...86_400) { result.pollSeconds = value }
            if let value = try sync.integer("list_seconds", in: 0...86_400) { result.listSeconds = value }
            if let value = try sync.integer("settle_milliseconds", in: 0...3_600_000) {
                result.settleMilliseconds = value
            }
            if let value = try sync.integer("parallel", in: 1...64) { result.parallel = value }
            result.uploadLimit = try sync.rate("upload_limit")
            result.downloadLimit = try sync.rate("download_limit")
        }
        if let cache = try root.section("cache") {
            note(cache, known: ["limit", "keepFree"])
            result.cache = SpaceLimits(limit: try cache.size("limit"), keepFree: try cache.size("keepFree"))
        }
        if let coordination = try root.section("coordination") {
            note(coordination, known: ["deadline_seconds", "packages"])
            if let value = try coordination.integer("deadline_seconds", in: 1...3600) { result.deadlineSeconds = value }
            if let value = try coordination.strings("packages") { result.packageExtensions = value }
        }
        if let thumbnails = try root.section("thumbnails") {
            note(thumbnails, known: ["make", "text", "megabytes"])
            if let value = try thumbnails.boolean("make") { result.thumbnails.makes = value }
            if let value = try thumbnails.boolean("text") { result.thumbnails.drawsText = value }
            if let value = try thumbnails.integer("megabytes", in: 1...1_000_000) {
                result.thumbnails.megabytes = value
            }
        }
        if let index = try root.section("index") {
            note(index, known: ["content", "content_megabytes"])
            if let value = try index.boolean("content") { result.content.isOn = value }
            if let value = try index.integer("content_megabytes", in: 1...1_000_000) {
                result.content.megabytes = value
            }
        }
        if let ephemeral = try root.section("ephemeral") {
            note(ephemeral, known: ["patterns"])
            if let value = try ephemeral.strings("patterns") { result.ephemeralPatterns = value }
        }
    }

    private func secretPlace(_ section: Section) throws(QuireError) -> SetupMethods.SecretPlace? {
        guard let text = try section.string("secret") else { return nil }
        guard let place = SetupMethods.SecretPlace(rawValue: text) else {
            throw section.wrong("secret", "is neither \"file\" nor \"service\"")
        }
        return place
    }

    private func container(_ section: Section) throws(QuireError) -> Configuration.Container {
        let text = try section.required("id")
        guard let id = ContainerID(text) else {
            throw section.wrong("id", "is not a container id (letters, digits, `-`, `_` and dots between them)")
        }
        guard let name = FileName(try section.required("name")) else {
            throw section.wrong("name", "is not a file name")
        }
        return Configuration.Container(
            id: id, name: name, provider: try section.string("provider"),
            isPublic: try section.boolean("public") ?? false)
    }

    private func add(_ section: Section, _ body: () throws(QuireError) -> Void) throws(QuireError) {
        do {
            try body()
        } catch {
            throw QuireError(error.code, "\(file): [[\(section.name)]]: \(error.message)", remedy: error.remedy)
        }
    }

    private mutating func note(_ section: Section, known: Set<String>) {
        for key in section.keys.sorted() where !known.contains(key) {
            unknownKeys.append(section.name.isEmpty ? key : "\(section.name).\(key)")
        }
    }
}
