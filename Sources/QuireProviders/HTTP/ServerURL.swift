import QuireCore

/// What the URLs of providers on the network have in common: `//user@host:port/path?name=value&…`, without a secret.
struct ServerURL {
    let origin: HTTPOrigin
    /// Decoded.
    let user: String?
    /// The path's names, decoded.
    let names: [[UInt8]]
    /// Decoded, by name.
    let options: [String: String]
    /// The option `pin` in one form: 64 hexadecimal digits.
    let pin: String?

    /// - Parameters:
    ///   - rest: what follows the scheme and its colon.
    ///   - known: the options that there are.
    ///   - wrong: makes an error of a reason.
    init(
        isSecure: Bool, _ rest: String, known: Set<String>, wrong: (String) -> QuireError
    ) throws(QuireError) {
        guard rest.hasPrefix("//") else { throw wrong("it names no server") }
        let text = rest.dropFirst(2)
        guard !text.contains("#") else { throw wrong("it has a fragment") }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let slash = parts[0].firstIndex(of: "/") ?? parts[0].endIndex
        let authority = parts[0][..<slash]
        let at = authority.lastIndex(of: "@")
        let host = String(at.map { authority[authority.index(after: $0)...] } ?? authority)
        guard let origin = HTTPOrigin(isSecure: isSecure, authority: host) else {
            throw wrong("\"\(host)\" is no server's name")
        }
        self.origin = origin
        user = try at.map { (at) throws(QuireError) in try Self.user(authority[..<at], wrong) }
        names = PercentEncoding.decode(parts[0][slash...]).split(separator: 0x2F).map(Array.init)
        guard names.allSatisfy({ FileName($0) != nil }) else { throw wrong("its path is none") }
        var options: [String: String] = [:]
        for option in parts.count == 2 ? parts[1].split(separator: "&") : [] {
            let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            guard pair.count == 2, known.contains(name) else {
                throw wrong("\"\(name)\" is no option; there is \(known.sorted().joined(separator: ", "))")
            }
            options[name] = String(decoding: PercentEncoding.decode(pair[1]), as: UTF8.self)
        }
        self.options = options
        pin = options["pin"].map { $0.filter { $0 != ":" }.lowercased() }
        if let pin, !isSecure || CertificatePin(hex: pin) == nil {
            throw wrong("pin= names a certificate, which only https has, by 64 hexadecimal digits")
        }
    }

    private static func user(_ name: Substring, _ wrong: (String) -> QuireError) throws(QuireError) -> String {
        guard !name.contains(":") else {
            throw QuireError(
                .usage, "the URL has a secret in it, which others on this machine could read",
                remedy: "Leave it out: it is asked for, or taken from QUIRE_SECRET")
        }
        guard let text = String(validating: PercentEncoding.decode(name), as: UTF8.self), !text.isEmpty,
            !text.contains(":")
        else { throw wrong("its user name cannot be used") }
        return text
    }
}
