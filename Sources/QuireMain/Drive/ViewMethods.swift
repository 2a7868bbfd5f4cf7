import QuireCore
import QuireStore

/// The methods that are answered from index and store, with a daemon and without.
struct ViewMethods: Sendable {
    let view: DriveView

    func addMethods(to methods: inout MethodTable) {
        let view = view
        methods.on(ItemMethods.PathStatus.self) { target, _ in
            try await view.explainedStatus(at: target.path.path)
        }
        methods.on(ItemMethods.Info.self) { target, _ in try await view.info(at: target.path.path) }
        methods.on(ItemMethods.Tag.self) { change, _ in .init(tags: try await view.changeTags(change)) }
        methods.on(ItemMethods.Find.self) { query, context in
            let count = try await view.find(query) { items in
                await context.sendParts(items) { $0.path.path.bytes.count + 400 }
            }
            return .init(count: count)
        }
        methods.on(QueryMethods.Paths.self) { query, context in
            let count = try await view.findPaths(query) { paths in
                try Task.checkCancellation()
                await context.sendParts(paths.map(WirePath.init)) { $0.path.bytes.count + 10 }
            }
            return .init(count: count)
        }
        methods.on(ItemMethods.Manifest.self) { parameters, context in
            let count = try await view.manifest(parameters.directory.path) { entries in
                await context.sendParts(entries) { $0.path.path.bytes.count + 150 }
            }
            return .init(count: count)
        }
        methods.on(VersionMethods.Conflicts.self) { _, context in
            let conflicts = try await view.conflicts()
            let found = conflicts.all.compactMap { path -> VersionMethods.Conflict? in
                guard let name = path.name.flatMap({ ConflictName($0) }) else { return nil }
                return VersionMethods.Conflict(
                    path: WirePath(path), document: WirePath(conflicts.document(of: path)), date: name.date,
                    device: name.device)
            }
            await context.sendParts(found) { $0.path.path.bytes.count * 2 + 150 }
            return .init(count: found.count)
        }
    }
}
