import QuireCore

/// Something that is missing at the provider, as it was known: kept here until the user says that it was deleted.
///
/// What comes to the same place later has another version, and is another.
struct HeldDeletion: Sendable, Hashable {
    let path: RelativePath
    let version: ProviderVersion

    init(_ base: BaseRecord) {
        path = base.path
        version = base.version
    }
}
