import QuireCore

/// Who the server takes the asking one for (RFC 5397), where it calls users `principals/users/USER`, as Nextcloud and ownCloud
/// do: a user's name there need not be the one to log in with.
struct DAVPrincipal: Sendable, Hashable {
    /// Percent-encoded path of what has `principals` in it, without a slash at its end.
    let root: String
    /// Percent-encoded.
    let user: String

    /// - Parameter href: in any of the forms of `DAVAddress.path`.
    init?(href: String) {
        guard let target = DAVAddress.target(href: href) else { return nil }
        // A name may have an encoded slash in it.
        let names = target.split(separator: "/").map { PercentEncoding.decode($0) }
        guard names.count >= 3, names.dropLast().suffix(2) == [Array("principals".utf8), Array("users".utf8)] else {
            return nil
        }
        root = names.dropLast(3).map { "/\(PercentEncoding.encode($0))" }.joined()
        user = PercentEncoding.encode(names[names.count - 1])
    }
}
