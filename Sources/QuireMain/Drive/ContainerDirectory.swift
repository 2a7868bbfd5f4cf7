import QuireCore
import QuireStore

/// A directory at the drive's root that is to be a container's. All methods block.
struct ContainerDirectory: Sendable {
    let name: FileName
    let tree: DriveTree

    var path: RelativePath { RelativePath([name]) }

    /// What is in its place; nil where nothing is.
    func kind() throws(QuireError) -> FileKind? {
        try storing { () throws(StoreError) in try tree.status(at: path)?.kind }
    }

    /// - Throws: `.usage` where something else is in its place.
    func requireDirectory() throws(QuireError) {
        guard let kind = try kind(), kind != .directory else { return }
        throw QuireError(
            .usage, "\(path) on the drive is no directory",
            remedy: "Choose another name with --name, or rename what is there")
    }

    /// Content that only the present provider has cannot be given to another.
    ///
    /// - Throws: `.usage` where there is some below the directory: its placeholders in the store say so.
    func requireContent() throws(QuireError) {
        guard try kind() == .directory else { return }
        var directories = [path]
        while let directory = directories.popLast() {
            for entry in try storing({ () throws(StoreError) in try tree.list(directory) }) {
                let path = directory.appending(entry.name)
                if entry.status.kind == .directory { directories.append(path) }
                guard entry.status.kind == .file else { continue }
                let mark = try storing { () throws(StoreError) in try Placeholder.mark(at: path, in: tree) }
                guard mark.isDataless else { continue }
                throw QuireError(
                    .usage, "the content of \(path) is with the present provider only",
                    remedy: "Bring everything in \(name) here first: `quire download \(name)`")
            }
        }
    }

    private func storing<Value>(_ body: () throws(StoreError) -> Value) throws(QuireError) -> Value {
        do throws(StoreError) { return try body() } catch { throw QuireError(error) }
    }
}
