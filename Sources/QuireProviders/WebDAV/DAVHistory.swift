import QuireCore

/// Where a server lists the versions of documents that it keeps by itself.
///
/// Each document has a collection there, named by its `oc:fileid`, which stays with it wherever it is moved. In the collection
/// is a file for each version, named by its time as a rule.
struct DAVHistory: Sendable, Hashable {
    /// Percent-encoded path of what has the documents' collections in it.
    private let documents: String
    /// What follows a document's name there.
    private let below: String
    /// Recent servers list what a document holds now among its versions, by the time at which it was written; its content
    /// cannot be had there.
    let listsPresent: Bool

    private init(_ documents: String, below: String = "", listsPresent: Bool = false) {
        (self.documents, self.below, self.listsPresent) = (documents, below, listsPresent)
    }

    /// Nextcloud's: `versions/USER/versions/FILEID` (developer manual, "WebDAV", "Versions").
    static func nextcloud(_ principal: DAVPrincipal) -> DAVHistory {
        DAVHistory("\(principal.root)/versions/\(principal.user)/versions", listsPresent: true)
    }

    /// That of ownCloud 10 and Infinite Scale: `meta/FILEID/v`.
    ///
    /// - Parameter root: percent-encoded path of what has `meta` in it, without a slash at its end.
    static func ownCloud(root: String) -> DAVHistory { DAVHistory("\(root)/meta", below: "/v") }

    /// The request target of a document's versions.
    func target(_ document: DAVRevision.Document) -> String {
        "\(documents)/\(PercentEncoding.encode(document.bytes))\(below)"
    }

    /// The request target of a version.
    func target(_ revision: DAVRevision) -> String {
        "\(target(revision.document))/\(PercentEncoding.encode(revision.name.bytes))"
    }
}
