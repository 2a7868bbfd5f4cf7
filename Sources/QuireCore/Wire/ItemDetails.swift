/// What is known of an item beside how it stands: when, what, how far. Members of `info`'s answer.
package struct ItemDetails: Codable, Sendable, Hashable {
    /// When it came to be; kept through safe-saves.
    package var created: WireTime
    /// When it came to the directory that it is in.
    package var added: WireTime
    /// Another text where the content is another, or, of a directory, what lies directly in it; nil while content is not here.
    package var generation: String?
    /// A uniform type identifier.
    package var type: String
    /// The type and all that it conforms to, nearer ones first.
    package var typeTree: [String]
    /// What people call the type, in English.
    package var typeName: String?
    /// The provider has all of it.
    package var uploaded: Bool
    /// 0 … 100: how much of the content is here.
    package var percentDownloaded: Double
    /// 0 … 100: how much of the content the provider has.
    package var percentUploaded: Double
    /// What people know its container by.
    package var containerName: String

    package init(
        created: WireTime, added: WireTime, generation: String?, type: String, typeTree: [String], typeName: String?,
        uploaded: Bool, percentDownloaded: Double, percentUploaded: Double, containerName: String
    ) {
        self.created = created
        self.added = added
        self.generation = generation
        self.type = type
        self.typeTree = typeTree
        self.typeName = typeName
        self.uploaded = uploaded
        self.percentDownloaded = percentDownloaded
        self.percentUploaded = percentUploaded
        self.containerName = containerName
    }
}
