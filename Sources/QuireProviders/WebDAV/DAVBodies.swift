import QuireCore

/// The XML that requests carry, and the server's own words in answers.
enum DAVBodies {
    /// Asks for what an item is made of, and how much room is left (RFC 4918 §9.1, RFC 4331).
    static let propfind = document(
        "<D:propfind xmlns:D=\"DAV:\" xmlns:q=\"\(DAVStamp.space)\">\(itemProperties)</D:propfind>")

    /// Asks of the account's root what is another once the server was set back (`DAVFingerprint`).
    static let root = document(
        """
        <D:propfind xmlns:D="DAV:" xmlns:o="\(DAVMultistatus.ownCloud)"><D:prop><D:resourcetype/><D:getetag/>\
        <o:data-fingerprint/></D:prop></D:propfind>
        """)

    /// The same, and where the account of changes stands.
    static let syncToken = document(
        """
        <D:propfind xmlns:D="DAV:" xmlns:o="\(DAVMultistatus.ownCloud)"><D:prop><D:sync-token/><o:data-fingerprint/>\
        </D:prop></D:propfind>
        """)

    private static let itemProperties = """
        <D:prop><D:resourcetype/><D:getcontentlength/><D:getlastmodified/><D:getetag/><q:\(DAVStamp.name)/></D:prop>
        """

    /// Asks also which document it is, whatever its path, and who asks (RFC 5397): see `DAVHistory`.
    static let identified = document(
        """
        <D:propfind xmlns:D="DAV:" xmlns:o="\(DAVMultistatus.ownCloud)"><D:prop><D:resourcetype/><D:getcontentlength/>\
        <D:getlastmodified/><D:getetag/><D:current-user-principal/><o:fileid/></D:prop></D:propfind>
        """)

    static let principal = document(
        "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:current-user-principal/></D:prop></D:propfind>")

    /// Asks for what earlier versions are made of.
    static let revisions = document(
        """
        <D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/><D:getcontentlength/><D:getlastmodified/></D:prop>\
        </D:propfind>
        """)

    /// Asks what changed at any depth (RFC 6578 §6.1).
    ///
    /// - Parameter token: where the last report ended.
    static func syncCollection(since token: String) -> [UInt8] {
        document(
            """
            <D:sync-collection xmlns:D="DAV:" xmlns:q="\(DAVStamp.space)"><D:sync-token>\(escaped(token))\
            </D:sync-token><D:sync-level>infinite</D:sync-level>\(itemProperties)</D:sync-collection>
            """)
    }

    static let quota = document(
        "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:quota-available-bytes/></D:prop></D:propfind>")

    /// Asks which locks there are (RFC 4918 §15.8).
    static let locks = document("<D:propfind xmlns:D=\"DAV:\"><D:prop><D:lockdiscovery/></D:prop></D:propfind>")

    /// An exclusive write lock (RFC 4918 §9.10).
    ///
    /// - Parameter owner: what the server is to remember with it: letters, digits and blanks.
    static func lock(owner: String) -> [UInt8] {
        document(
            """
            <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>\
            <D:owner>\(owner)</D:owner></D:lockinfo>
            """)
    }

    /// Sets the stamp (RFC 4918 §9.2).
    static func proppatch(_ stamp: DAVStamp) -> [UInt8] {
        document(
            """
            <D:propertyupdate xmlns:D="DAV:" xmlns:q="\(DAVStamp.space)"><D:set><D:prop><q:\(DAVStamp.name)>\
            \(escaped(stamp.text))</q:\(DAVStamp.name)></D:prop></D:set></D:propertyupdate>
            """)
    }

    private static func document(_ text: String) -> [UInt8] {
        Array("<?xml version=\"1.0\" encoding=\"utf-8\"?>\(text)".utf8)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
