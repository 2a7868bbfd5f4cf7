import QuireCore

/// An item's metadata as `key = value` lines.
enum InfoText {
    static func lines(_ info: ItemInfo) -> String {
        let status = info.status
        var rows: [(String, String)] = [
            ("path", status.path.path.description),
            ("id", "\(status.id)"),
            ("kind", status.kind.rawValue),
            ("size", "\(status.size)"),
            ("state", status.state.rawValue),
            ("materialized", "\(status.materialized)"),
            ("modified", "\(info.modified)"),
            ("changed", "\(info.changed)"),
            ("mode", info.mode),
            ("container", "\(status.container)"),
            ("provider", status.provider),
            ("version", status.version?.rawValue ?? "(none)"),
            ("checksum", info.checksum?.description ?? "(not known)"),
            ("pinned", status.pinned ? "yes" : "no"),
            ("tags", info.tags.isEmpty ? "(none)" : info.tags.joined(separator: ", ")),
        ]
        if let target = info.symlinkTarget { rows.append(("target", target)) }
        for conflict in info.conflicts { rows.append(("conflict", conflict.path.description)) }
        if let error = info.error { rows.append(("error", "\(error.message) (since \(error.since))")) }
        return rows.map { "\($0.padded(to: 13))= \($1)" }.joined(separator: "\n")
    }
}
