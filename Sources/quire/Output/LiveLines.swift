import QuireCore

/// What a running query tells, as lines.
struct LiveLines: Sendable {
    let json: Bool
    let null: Bool

    /// A line of `--json`.
    private struct Line: Encodable {
        var change: String
        var path: WirePath
        var item: ItemStatus?
    }

    func show(_ update: QueryMethods.Update) {
        for removal in update.removed ?? [] { show("-", removal.path, nil) }
        for change in update.changed ?? [] {
            let path = change.item.status.path
            // Whoever keeps a list of paths needs both.
            if change.from != path { show("-", change.from, nil) }
            show(change.from == path ? "~" : "+", path, change.item.status)
        }
        for item in update.added ?? [] { show("+", item.status.path, item.status) }
    }

    private func show(_ change: String, _ path: WirePath, _ item: ItemStatus?) {
        // A status always has a form in JSON: it came as such.
        if json { return (try? Output.json(Line(change: change, path: path, item: item))) ?? () }
        let bytes = path.path.bytes
        Output.write(
            null ? Array("\(change) ".utf8) + bytes + [0] : Array("\(change) \(DisplayBytes.escaped(bytes))\n".utf8))
    }
}
