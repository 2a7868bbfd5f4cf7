package import QuireCore

/// The name that a provider has something by.
package struct BaseName: Sendable, Hashable {
    package var name: FileName
    /// It is deleted here, and is to be deleted there.
    package var isDeleted: Bool
    /// Of the version that the provider last acknowledged.
    package var version: ProviderVersion
    /// See `RemoteItem.identifier`.
    package var identifier: String?
}
