/// The extended attributes that Quire itself keeps on files in the store, all in one place.
///
/// They lie in the namespace whose names the mount answers from memory, so no program sees these.
package enum StoreAttribute {
    /// On a dataless file: which of the provider's versions it stands for (design, rule 4). See `PlaceholderMark`.
    package static let placeholder = "user.quire.placeholder"
    /// On a kept version: the path that it was kept from, as bytes.
    package static let origin = "user.quire.origin"
    /// On a kept version that was brought from the provider: what that calls it, in UTF-8.
    package static let providedVersion = "user.quire.provided"
    /// On a kept version that may go when room is short.
    package static let discardable = "user.quire.discardable"
}

extension FileStatus {
    /// Whether this file can be a placeholder; only then its `PlaceholderMark` must be looked at. What is allocated for it
    /// does not tell: a backup may have written its zeros out.
    package var mayBePlaceholder: Bool { kind == .file && size > 0 }
}
