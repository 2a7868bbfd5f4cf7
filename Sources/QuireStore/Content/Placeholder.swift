import CLinux
import Glibc
package import QuireCore

/// Placeholders as files in the store.
extension Placeholder {
    /// Whether a file can be a placeholder: only then is its mark worth reading.
    package static func isCandidate(_ status: FileStatus) -> Bool { status.mayBePlaceholder }

    /// The mark of an open file (not by O_PATH), where it counts: see `PlaceholderMark`. The file's position is anywhere
    /// afterwards.
    package static func mark(
        of file: borrowing OwnedDescriptor, shown item: @autoclosure () -> String = "an open file"
    ) throws(StoreError) -> Mark {
        try mark(of: file, try file.status(), shown: item())
    }

    /// The same of a file whose status is known.
    static func mark(
        of file: borrowing OwnedDescriptor, _ status: FileStatus, shown item: @autoclosure () -> String
    ) throws(StoreError) -> Mark {
        guard let value = try file.attribute(StoreAttribute.placeholder, item()),
            PlaceholderMark(of: file.rawValue, status) == .counts
        else { return .none }
        return Placeholder(parsing: value).map(Mark.placeholder) ?? .unreadable
    }

    /// The mark of the file at `path`; opens it only when it is a candidate. `.none` where nothing, or no file, is
    /// there.
    package static func mark(at path: RelativePath, in tree: DriveTree) throws(StoreError) -> Mark {
        try look(at: path, in: tree).mark
    }

    /// The same with the status of what is there, nil where nothing is.
    package static func look(
        at path: RelativePath, in tree: DriveTree
    ) throws(StoreError) -> (status: FileStatus?, mark: Mark) {
        guard !path.isRoot else { return (try tree.status(at: path), .none) }
        let location: DriveTree.Location
        do throws(StoreError) { location = try tree.location(of: path) } catch {
            guard error.code == .notFound else { throw error }
            return (nil, .none)
        }
        let status = try location.status(shown: path)
        guard let status, isCandidate(status) else { return (status, .none) }
        let file = try location.openForReading(shown: path)
        let opened = try file.status()
        return (opened, try mark(of: file, opened, shown: path.description))
    }

    /// Makes a placeholder in `staging`, ready to be installed.
    ///
    /// It is fsynced: a name must never lead to a file whose mark was lost.
    /// - Parameter size: greater than 0; an empty document is a real empty file.
    /// - Returns: its absolute path.
    package static func create(
        _ placeholder: Placeholder, size: ByteCount, mtime: FileTime, mode: UInt16, in staging: Staging
    ) throws(StoreError) -> String {
        let file = try make(placeholder, size: size, mtime: mtime, mode: mode, in: staging)
        try file.descriptor.sync(file.path)
        return file.keep()
    }

    /// As `create`, of one of many: to be installed once they are written through, by `Staging.writeThrough`.
    package static func stage(
        _ placeholder: Placeholder, size: ByteCount, mtime: FileTime, mode: UInt16, in staging: Staging
    ) throws(StoreError) -> String {
        try make(placeholder, size: size, mtime: mtime, mode: mode, in: staging).keep()
    }

    private static func make(
        _ placeholder: Placeholder, size: ByteCount, mtime: FileTime, mode: UInt16, in staging: Staging
    ) throws(StoreError) -> StagedFile {
        precondition(size > .zero, "an empty file needs no placeholder")
        let file = try staging.createFile("placeholder")
        try file.descriptor.setAttribute(StoreAttribute.placeholder, placeholder.encoded, file.path)
        try systemCall("set the size of", file.path) { ftruncate(file.descriptor.rawValue, off_t(size.bytes)) }
        try file.descriptor.setMode(mode, file.path)
        try file.descriptor.setModificationTime(mtime, file.path)
        return file
    }
}
