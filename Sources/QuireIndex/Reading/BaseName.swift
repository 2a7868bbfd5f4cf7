package import QuireCore

/// The name that a provider has something by.
package struct BaseName: Sendable, Hashable {
    package var name: FileName
    /// It is deleted here, and is to be deleted there.
    package var isDeleted: Bool
}
