public import Foundation
import QuireCore

/// What a file, a directory or a symbolic link contains, in memory (FileWrapper). A value: a copy stays as it is.
///
/// A package, which is a directory that is one document, is a wrapper with a wrapper for each of its files.
public struct FileWrapper: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        case file(Data)
        case directory([String: FileWrapper])
        case symbolicLink(String)
    }

    var content: Content
    /// Under which name `addFileWrapper(_:)` puts it into a directory.
    public var preferredFilename: String?

    init(_ content: Content, preferredFilename: String? = nil) {
        self.content = content
        self.preferredFilename = preferredFilename
    }

    /// A file.
    public init(regularFileWithContents contents: Data) { self.init(.file(contents)) }

    /// A directory, by the names in it.
    public init(directoryWithFileWrappers childrenByPreferredName: [String: FileWrapper] = [:]) {
        self.init(.directory(childrenByPreferredName))
    }

    /// A symbolic link, to the URL's path as it is written: a relative one stays relative.
    public init(symbolicLinkWithDestinationURL url: URL) { self.init(.symbolicLink(url.relativePath)) }

    // MARK: What it is

    /// Whether it is a directory.
    public var isDirectory: Bool { fileWrappers != nil }
    /// Whether it is a file.
    public var isRegularFile: Bool { regularFileContents != nil }
    /// Whether it is a symbolic link.
    public var isSymbolicLink: Bool { symbolicLinkDestinationURL != nil }

    /// A file's bytes; nil for anything else.
    public var regularFileContents: Data? { if case .file(let data) = content { data } else { nil } }

    /// What is in a directory, by name; nil for anything else.
    public var fileWrappers: [String: FileWrapper]? { if case .directory(let all) = content { all } else { nil } }

    /// Where a symbolic link leads; nil for anything else.
    public var symbolicLinkDestinationURL: URL? {
        guard case .symbolicLink(let path) = content else { return nil }
        return URL(filePath: path, directoryHint: .notDirectory)
    }

    // MARK: Directories

    /// What is in a directory under `name`; setting nil removes it. Of anything else nil, and setting does nothing.
    public subscript(name: String) -> FileWrapper? {
        get { fileWrappers?[name] }
        set {
            guard var all = fileWrappers else { return }
            all[name] = newValue
            content = .directory(all)
        }
    }

    /// Puts a wrapper into the directory, under its preferred name or, where that is taken, that with a number.
    ///
    /// - Returns: the name. Of what is no directory nil: nothing was added.
    @discardableResult
    public mutating func addFileWrapper(_ child: FileWrapper) -> String? {
        guard let all = fileWrappers else { return nil }
        let name = Self.free(child.preferredFilename ?? "Untitled", among: all)
        self[name] = child
        return name
    }

    /// Puts a file into the directory. As of `addFileWrapper(_:)`.
    @discardableResult
    public mutating func addRegularFile(withContents data: Data, preferredFilename fileName: String) -> String? {
        addFileWrapper(FileWrapper(.file(data), preferredFilename: fileName))
    }

    /// Removes what is in the directory under `name`.
    public mutating func removeFileWrapper(named name: String) { self[name] = nil }

    private static func free(_ wanted: String, among all: [String: FileWrapper]) -> String {
        guard all[wanted] != nil else { return wanted }
        let (stem, suffix) = ((wanted as NSString).deletingPathExtension, (wanted as NSString).pathExtension)
        let end = suffix.isEmpty ? "" : ".\(suffix)"
        var number = 2
        while all["\(stem) \(number)\(end)"] != nil { number += 1 }
        return "\(stem) \(number)\(end)"
    }
}
