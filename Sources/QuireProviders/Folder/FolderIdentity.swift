import Glibc
import QuireCore

/// The mark of a folder: which store it is.
enum FolderIdentity {
    /// Reads the mark; nil where there is none.
    static func read(in control: borrowing OpenFile, root: String) throws(ProviderError) -> StoreMark? {
        guard let bytes = try bytes(in: control) else { return nil }
        return try StoreMark(bytes, at: root)
    }

    /// Writes a new mark unless another daemon was first, and returns the one that is there then.
    static func create(
        in control: borrowing OpenFile, temporary: borrowing OpenFile, root: String
    ) throws(ProviderError) -> StoreMark {
        let mark = StoreMark.fresh()
        let name = FolderLayout.stagingName()
        let (tmp, directory) = (temporary.descriptor, control.descriptor)
        let path = FolderSession.controlPath(FolderLayout.store)
        try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
            let file = try SystemCalls.open(at: tmp, name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
            do throws(SystemFailure) {
                try ContentCopy.write(mark.bytes, to: file.descriptor)
                try SystemCalls.sync(file.descriptor)
                try Placement.intoFreeName((tmp, name), to: (directory, FolderLayout.store))
            } catch {
                try? SystemCalls.unlink(at: tmp, name)
                if error.code != EEXIST { throw error }
            }
            try SystemCalls.sync(directory)
        }
        guard let found = try read(in: control, root: root) else {
            throw FolderSession.missing(root, SystemFailure(ENOENT, "open"))
        }
        return found
    }

    private static func bytes(in control: borrowing OpenFile) throws(ProviderError) -> [UInt8]? {
        let directory = control.descriptor
        do throws(SystemFailure) {
            let file = try SystemCalls.open(at: directory, FolderLayout.store, O_RDONLY | O_NONBLOCK)
            var bytes = [UInt8](repeating: 0, count: 4096)
            let descriptor = file.descriptor
            let count = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(SystemFailure) in
                try SystemCalls.check("read") { Int32(Glibc.read(descriptor, buffer.baseAddress, buffer.count)) }
            }
            return Array(bytes.prefix(Int(count)))
        } catch {
            if error.code == ENOENT { return nil }
            throw ErrnoTranslation.error(error, FolderSession.controlPath(FolderLayout.store), "read")
        }
    }
}
