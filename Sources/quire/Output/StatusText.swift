import QuireCore

/// Statuses as lines for people.
enum StatusText {
    /// The drive's, several lines.
    static func drive(_ status: DriveStatus) -> String {
        var lines = [
            row("Drive", status.mountpoint ?? "not mounted"),
            row("Home", status.home),
            row("Device", status.device),
        ]
        for provider in status.providers {
            let standing = status.state == .stopped ? "" : provider.online ? "  online" : "  offline"
            lines.append(row("Provider", "\(provider.name)  \(provider.url)\(standing)"))
        }
        lines.append(row("Items", "\(status.items)"))
        lines.append(row("Pending", pending(status.pending)))
        if status.conflicts > 0 { lines.append(row("Conflicts", "\(status.conflicts) (see `quire conflicts`)")) }
        if let held = status.heldDeletions, held > 0 {
            let what = held == 1 ? "1 deletion" : "\(held) deletions"
            lines.append(row("Held", "\(what), until `quire sync --confirm-deletes` says that they are meant"))
        }
        for problem in status.errors {
            lines.append(row("Error", "\(problem.path.path): \(problem.message) (since \(problem.since))"))
        }
        if status.lacksMimeDatabase ?? false {
            lines.append(
                row("Types", "by common extensions only: no MIME database is installed (package shared-mime-info)"))
        }
        if status.rescanning { lines.append(row("Rescan", "comparing the store with the index")) }
        return lines.joined(separator: "\n")
    }

    /// One item's: its state and path.
    static func item(_ status: ItemStatus) -> String {
        status.state.rawValue.padded(to: 12) + status.path.path.description
    }

    /// `2 uploads, 1 deletion`, or `nothing`.
    static func pending(_ counts: PendingCounts) -> String {
        let parts = [
            part(counts.upload, "upload", "uploads"), part(counts.download, "download", "downloads"),
            part(counts.delete, "deletion", "deletions"), part(counts.rename, "rename", "renames"),
        ].compactMap { $0 }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }

    private static func part(_ count: Int, _ one: String, _ many: String) -> String? {
        count == 0 ? nil : "\(count) \(count == 1 ? one : many)"
    }

    private static func row(_ name: String, _ value: String) -> String { name.padded(to: 11) + value }
}

extension String {
    /// With blanks at its end, and at least one.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
