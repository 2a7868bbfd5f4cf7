import Logging
import QuireCore

/// Makes a tree of a bucket's objects.
struct S3Tree {
    private let address: S3Address
    private let logger: Logger

    init(_ address: S3Address, _ logger: Logger) {
        self.address = address
        self.logger = logger
    }

    /// Every item once. Keys that no file system can hold are left out with a word in the log.
    ///
    /// - Returns: with `covered`, the objects that are not shown because others make directories of their keys.
    func items(_ objects: [S3Object]) -> (items: [RemoteItem], covered: [RelativePath]) {
        var items: [RemoteItem] = []
        items.reserveCapacity(objects.count)
        var directories: Set<RelativePath> = []
        for object in objects where S3Sign(object) != .vacancy {
            guard let (path, isMarker) = address.path(ofKey: object.key) else {
                if object.key.count > address.prefix.count { left(object.key, "no file can have this name") }
                continue
            }
            guard path.components.first != StoreLayout.control.name else { continue }
            if object.isFullMarker { left(object.key, "it has content and the name of a directory") }
            if isMarker || S3Sign(object) == .directory {
                directories.insert(path)
            } else {
                items.append(
                    RemoteItem(
                        path: path, kind: .file, version: ProviderVersion(object.entityTag),
                        size: ByteCount(object.size), mtime: object.modified))
            }
            var parent = path.parent
            while let directory = parent, !directory.isRoot, directories.insert(directory).inserted {
                parent = directory.parent
            }
        }
        var covered: [RelativePath] = []
        items.removeAll { item in
            guard directories.contains(item.path) else { return false }
            covered.append(item.path)
            return true
        }
        items += directories.lazy.map(S3Provider.directory)
        return (items, covered)
    }

    /// Says that an object is not shown.
    func left(_ key: [UInt8], _ reason: String) {
        logger.warning(
            "an object is not shown",
            metadata: ["key": "\(String(decoding: key, as: UTF8.self))", "reason": "\(reason)"])
    }
}
