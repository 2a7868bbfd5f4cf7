import CLinux
package import QuireCore

extension DriveTree {
    /// What is at `path` by now, and whether some process has it open for writing, of which the driver need not know: one that
    /// goes on from before this daemon. Nil where nothing is there. Blocks.
    package func use(of path: RelativePath) throws(StoreError) -> (status: FileStatus, isWritten: Bool)? {
        guard let status = try status(at: path) else { return nil }
        // What cannot be opened is not asked.
        guard status.kind == .file, let file = try? openForReading(path) else { return (status, false) }
        return (status, quire_has_writers(file.rawValue) == 1)
    }
}
