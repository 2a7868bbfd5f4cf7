public import Foundation
import Glibc
import QuireCore

extension FileWrapper {
    /// Reads what is at `url`, of a directory all that is in it. A symbolic link at `url` itself is followed, those below are
    /// kept as they are. Blocks on the file system.
    ///
    /// - Throws: what Foundation throws where something cannot be read; `.usage` for a name that is not UTF-8, and for what is
    ///   neither file, directory nor symbolic link: a save would lose them.
    public init(url: URL) throws {
        var status = stat()
        let code = stat(url.path, &status) == 0 ? 0 : errno
        guard code != ENOENT else { throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: url.path]) }
        guard code == 0 else { throw Self.failure(code, url) }
        try self.init(url, status)
    }

    private init(_ url: URL, _ status: stat) throws {
        switch status.st_mode & S_IFMT {
        case S_IFREG: self.init(.file(try Data(contentsOf: url)))
        case S_IFLNK:
            self.init(.symbolicLink(try FileManager.default.destinationOfSymbolicLink(atPath: url.path)))
        case S_IFDIR:
            var children: [String: FileWrapper] = [:]
            for name in try Self.names(in: url) {
                let child = url.appending(path: name, directoryHint: .notDirectory)
                var status = stat()
                guard lstat(child.path, &status) == 0 else { throw Self.failure(errno, child) }
                children[name] = try FileWrapper(child, status)
            }
            self.init(.directory(children))
        default:
            throw QuireError(.usage, "\(url.path) is no file, directory or link", remedy: "Remove it from the document")
        }
        preferredFilename = url.lastPathComponent
    }

    private static func names(in directory: URL) throws -> [String] {
        guard let stream = opendir(directory.path) else { throw failure(errno, directory) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let name = String(validating: bytes, as: UTF8.self) else {
                throw QuireError(
                    .usage, "\(directory.path) holds a name that is not UTF-8",
                    remedy: "Rename it: a save would lose it")
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    static func failure(_ code: Int32, _ url: URL) -> CocoaError {
        let kind: CocoaError.Code =
            switch code {
            case ENOSPC, EDQUOT: .fileWriteOutOfSpace
            case EACCES, EPERM: .fileWriteNoPermission
            case EEXIST: .fileWriteFileExists
            default: .fileWriteUnknown
            }
        return CocoaError(
            kind,
            userInfo: [
                NSFilePathErrorKey: url.path,
                NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(code)),
            ])
    }
}
