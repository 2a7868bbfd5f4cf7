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
            if let message = provider.message { lines.append(row("", message)) }
        }
        lines.append(row("Items", "\(status.items)"))
        lines.append(row("Pending", pending(status.pending)))
        if let paused = status.paused { lines.append(row("Paused", pause(paused))) }
        if let space = status.space { lines.append(row("Space", self.space(space))) }
        if status.conflicts > 0 { lines.append(row("Conflicts", "\(status.conflicts) (see `quire conflicts`)")) }
        if let held = status.held {
            for held in held { lines += zip(["Held", ""], held.words).map(row) }
        } else if let held = status.heldDeletions, held > 0 {
            let what = held == 1 ? "1 deletion" : "\(held) deletions"
            lines.append(row("Held", "\(what), until `quire sync --confirm-deletes` says that they are meant"))
        }
        lines += waiting(status.waiting ?? [], of: status.pending)
        for problem in status.errors {
            lines.append(row("Error", "\(problem.path.path): \(problem.message) (since \(problem.since))"))
        }
        if let more = status.errorsMore { lines.append(row("", "and \(more) more errors")) }
        if status.lacksMimeDatabase ?? false {
            lines.append(
                row("Types", "by common extensions only: no MIME database is installed (package shared-mime-info)"))
        }
        if status.rescanning { lines.append(row("Rescan", "comparing the store with the index")) }
        return lines.joined(separator: "\n")
    }

    private static let mostWaiting = 10

    private static func waiting(_ waiting: [DriveStatus.Waiting], of pending: PendingCounts) -> [String] {
        var lines = waiting.prefix(mostWaiting).map { row("Waiting", "\($0.path.path): \(words($0))") }
        let rest = max(waiting.count, pending.upload + pending.delete + pending.rename) - lines.count
        if !lines.isEmpty, rest > 0 { lines.append(row("", "and \(rest) more")) }
        return lines
    }

    /// `the provider is full, tried again at 09:05 (…)`.
    static func words(_ waiting: DriveStatus.Waiting) -> String {
        let words =
            switch waiting.reason {
            case "settling": "was changed a moment ago"
            case "open": "a program has it open"
            case "parked": "parked"
            case "full": "the provider is full"
            case "offline": "the provider is offline"
            case "paused": "the drive is paused"
            case "uploading": "on its way"
            case "held": "missing at the provider with much else, and kept here"
            case "moved": "deleted at the provider once it has arrived in the container that it was moved to"
            case "stopped": "no daemon serves the drive: `quire mount`"
            default: "in the queue"
            }
        let again = ["parked", "full"].contains(waiting.reason) ? waiting.until : nil
        let until = again.map { ", tried again at \($0.time.localMinute)" } ?? ""
        return words + until + (waiting.message.map { " (\($0))" } ?? "")
    }

    /// `paused until 2026-01-31 09:05 …`, in the device's time zone.
    static func pause(_ pause: DriveStatus.Pause) -> String {
        guard let until = pause.until else { return "paused until `quire resume`" }
        return "paused until \(until.time.localMinute) (or `quire resume`)"
    }

    /// `4.2 GB of 10 GB; programs may add 6.1 GB`.
    static func space(_ space: DriveStatus.Space) -> String {
        var text = "\(size(space.used))"
        if let limit = space.limit { text += " of \(size(limit))" }
        if let free = space.keepFree { text += ", \(size(free)) stay free" }
        if let left = space.left { text += "; programs may add \(size(left))" }
        return text
    }

    private static func size(_ bytes: Int64) -> ByteCount { ByteCount(max(0, bytes)) }

    /// One item's: its state and path, and below that what it waits for.
    static func item(_ status: ItemStatus) -> String {
        let line = status.state.rawValue.padded(to: 12) + status.path.path.description
        return status.waiting.map { "\(line)\n" + "".padded(to: 12) + words($0) } ?? line
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
