import Foundation
import QuireCore

/// What an access for uploading is handed: a copy outside of the drive, of a directory one zip file.
///
/// A directory is copied while access is held and packed afterwards by `bsdtar` (libarchive): writers need not wait for
/// compression, and programs' own coordination does not get into the way of packing.
final class UploadSnapshot: Sendable {
    private let directory: URL
    /// The copy.
    private let copy: URL

    /// Copies an item. Blocks on the file system.
    init(of item: URL) throws {
        let files = FileManager.default
        directory = files.temporaryDirectory.appending(path: "quire-upload-\(UUID().uuidString)")
        copy = directory.appending(path: item.lastPathComponent)
        do {
            try files.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try files.copyItem(at: item, to: copy)
        } catch {
            remove()
            throw error
        }
    }

    deinit { remove() }

    /// Where the snapshot is; packs a directory first. Blocks.
    ///
    /// - Throws: `.unavailable` where `bsdtar` is missing, `.failed` where it fails.
    func url() throws -> URL {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: copy.path, isDirectory: &isDirectory), isDirectory.boolValue else {
            return copy
        }
        let archive = copy.deletingLastPathComponent().appending(path: copy.lastPathComponent + ".zip")
        try Self.pack(copy.lastPathComponent, in: directory, to: archive)
        return archive
    }

    /// Removes it; what the accessor opened or moved stays.
    func remove() {
        // What the accessor removed itself, or moved, is gone already.
        try? FileManager.default.removeItem(at: directory)
    }

    private static func pack(_ name: String, in directory: URL, to archive: URL) throws {
        let places = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(
            separator: ":")
        guard let program = places.map({ "\($0)/bsdtar" }).first(where: FileManager.default.isExecutableFile(atPath:))
        else {
            throw QuireError(
                .unavailable, "\(name): a directory's snapshot is packed by bsdtar, which is missing",
                remedy: "Install it (Debian: libarchive-tools)")
        }
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.currentDirectoryURL = directory
        process.arguments = ["--format", "zip", "-cf", archive.path, "--", name]
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let said = try DescriptorReading.rest(of: errors.fileHandleForReading.fileDescriptor)
        let text = String(decoding: said, as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw QuireError(.failed, "\(name): bsdtar could not pack it: \(text)")
        }
    }
}
