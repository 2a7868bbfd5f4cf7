/// The one word that says how a document stands; the extended attribute `user.quire.state` has the same.
public enum ItemState: String, Sendable, Codable, CaseIterable {
    /// Content is here and the provider has it.
    case current
    /// Local content or attributes wait for upload.
    case dirty
    /// Its upload is under way.
    case uploading
    /// Only its attributes are here.
    case dataless
    /// Some of its content is here.
    case partial
    /// Its content is on its way.
    case downloading
    /// It is a conflict copy, or has one beside it.
    case conflict
    /// An upload, download or delete failed and is parked with a message.
    case error
    /// Kept on this device only: ephemeral names, FIFOs, sockets, devices.
    case localOnly = "local-only"
}
