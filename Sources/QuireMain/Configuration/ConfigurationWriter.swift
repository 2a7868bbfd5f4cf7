import QuireCore
import QuireSync

/// Writes `config.toml`: always the same order, with a comment at each section.
enum ConfigurationWriter {
    static func text(_ configuration: Configuration) -> String {
        var lines = [
            "# Quire's configuration. `quire provider` and `quire container` rewrite this file; comments are not kept then.",
            "format = \(Configuration.format)",
            "",
            "[drive]",
            "device_id = \(quoted(configuration.deviceID))",
            "# Names this device in conflict copies.",
            "device_name = \(quoted(configuration.deviceName))",
            "",
            "[sync]",
            "# How often providers are asked for changes.",
            "poll_seconds = \(configuration.pollSeconds)",
            "# How often everything at a server is listed anew, to find what other programs changed; 0: a twentieth of the time.",
            "list_seconds = \(configuration.listSeconds)",
            "# How long a document rests after its last change before it is uploaded.",
            "settle_milliseconds = \(configuration.settleMilliseconds)",
            "# Transfers at one time.",
            "parallel = \(configuration.parallel)",
            "# Most that goes to providers and comes from them: upload_limit = \"2 MB/s\", download_limit.",
        ]
        if let limit = configuration.uploadLimit { lines.append("upload_limit = \(quoted(TransferRate.text(limit)))") }
        if let limit = configuration.downloadLimit {
            lines.append("download_limit = \(quoted(TransferRate.text(limit)))")
        }
        lines += [
            "",
            "[cache]",
            "# Most that documents take here (limit = \"10 GB\"), and what stays free on the disk (keepFree = \"5 GB\").",
        ]
        if let limit = configuration.cache.limit { lines.append("limit = \(quoted(limit.exactText))") }
        if let free = configuration.cache.keepFree { lines.append("keepFree = \(quoted(free.exactText))") }
        lines += [
            "",
            "[coordination]",
            "# How long a program on the drive waits for others that hold a document.",
            "deadline_seconds = \(configuration.deadlineSeconds)",
            "# Directories with these extensions are one document.",
            "packages = [\(configuration.packageExtensions.map(quoted).joined(separator: ", "))]",
            "",
            "[thumbnails]",
            "# Whether pictures are made of documents; also of texts, with the first page drawn.",
            "make = \(configuration.thumbnails.makes)",
            "text = \(configuration.thumbnails.drawsText)",
            "# How much they may take, here and at a provider.",
            "megabytes = \(configuration.thumbnails.megabytes)",
            "",
            "[index]",
            "# Whether the words of documents are kept, for queries; how much they may take here.",
            "content = \(configuration.content.isOn)",
            "content_megabytes = \(configuration.content.megabytes)",
            "",
            "[ephemeral]",
            "# Files of these names stay on this device.",
            "patterns = [\(configuration.ephemeralPatterns.map(quoted).joined(separator: ", "))]",
        ]
        for provider in configuration.providers {
            lines += ["", "[[provider]]", "name = \(quoted(provider.name))", "url = \(quoted(provider.url))"]
            if provider.isDefault { lines.append("default = true") }
            if let place = provider.secretPlace { lines.append("secret = \(quoted(place.rawValue))") }
            if provider.acceptsLossy { lines.append("accept_lossy = true") }
            if let identity = provider.identity { lines.append("identity = \(quoted(identity))") }
        }
        for container in configuration.containers {
            lines += ["", "[[container]]", "id = \(quoted(container.id.rawValue))"]
            lines.append("name = \(quoted(container.name.string ?? container.name.description))")
            if let provider = container.provider { lines.append("provider = \(quoted(provider))") }
            if container.isPublic { lines.append("public = true") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A TOML basic string.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
