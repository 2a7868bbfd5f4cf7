import Logging
import QuireCore
import QuireIndex
import QuireStore

/// Opens the index of a home that this process holds.
struct IndexOpener {
    let home: OpenHome
    let logger: Logger

    /// - Returns: the index, and what there is to say of it.
    func open() throws(QuireError) -> (DriveIndex, notes: [String]) {
        let tree: DriveTree
        do {
            tree = try home.home.openStore()
        } catch {
            throw QuireError(error)
        }
        let configuration = home.configuration
        let keepsContent = configuration.content.isOn
        if !keepsContent { MetadataIndex.removeContent(at: home.home.contentPath) }
        do {
            let (index, opening) = try MetadataIndex.open(
                at: home.home.indexPath, driveRoot: home.home.storePath,
                ephemeral: EphemeralNames(patterns: configuration.ephemeralPatterns),
                containers: ContainerLayout(configuration),
                types: ItemTyper(packages: PackageNames(extensions: configuration.packageExtensions)),
                content: keepsContent ? home.home.contentPath : nil, logger: logger)
            var notes = home.notes
            if case .rebuilt(let aside) = opening {
                notes.append("the index was damaged: it was set aside as \(aside), and is being built anew")
            }
            return (DriveIndex(index: index, tree: tree, logger: logger), notes)
        } catch {
            throw QuireError(error)
        }
    }
}
