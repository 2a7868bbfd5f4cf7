import Logging
import QuireCore

/// Documents at whose place there is a directory, too.
///
/// No condition of a store keeps one device from making `a` while another makes `a/b`: both are there then, and a tree has
/// room for one only. The document goes beside it, under the name of a conflict copy.
extension S3Provider {
    /// - Returns: whether one of them has another name now.
    func uncover(_ paths: [RelativePath], _ tree: S3Tree) async throws(ProviderError) -> Bool {
        var hasMoved = false
        for path in paths {
            do throws(ProviderError) {
                guard abilities.createsOnce, abilities.deletesChecked || abilities.removesByVacancy,
                    let destination = try await setAside(path)
                else {
                    tree.left(client.address.key(path), "other objects make it a directory")
                    continue
                }
                logger.info(
                    "a document and a directory had one name",
                    metadata: ["path": "\(path)", "document": "\(destination)"])
                hasMoved = true
            } catch {
                if error.code == .unavailable || error.code == .cancelled { throw error }
                tree.left(client.address.key(path), "other objects make it a directory: \(error)")
            }
        }
        return hasMoved
    }

    /// Gives a document a conflict copy's name; nil where none is free, or it is gone.
    private func setAside(_ path: RelativePath) async throws(ProviderError) -> RelativePath? {
        guard let name = path.name, let parent = path.parent, let document = try await look(path),
            document.kind == .file
        else { return nil }
        let names = ConflictName.candidates(
            original: name, date: SystemCalls.now().localDay, device: "another device")
        for copy in names.prefix(50) {
            let destination = parent.appending(copy)
            let there = try await look(destination)
            guard there == nil || there?.kind == .file && there?.version == document.version else { continue }
            if there == nil { _ = try await self.copy(document, to: destination) }
            try await remove(path, version: document.version)
            return destination
        }
        return nil
    }
}
