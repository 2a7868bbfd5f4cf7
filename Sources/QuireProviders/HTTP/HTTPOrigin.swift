/// A server: scheme, host and port. Credentials are sent to no other.
package struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// Whether it is spoken to over TLS.
    package var isSecure: Bool
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    package var host: String
    package var port: Int

    package init(isSecure: Bool, host: String, port: Int? = nil) {
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`; nil for anything else.
    package init?(isSecure: Bool, authority: String) {
        var host = authority[...]
        var rest: Substring = ""
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            rest = host[host.index(after: end)...]
            host = host[host.index(after: host.startIndex)..<end]
            guard host.contains(":") else { return nil }
        } else if let colon = host.firstIndex(of: ":") {
            rest = host[colon...]
            host = host[..<colon]
        }
        let allowed = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@[]\\%<>\"".utf8.contains($0) }
        guard !host.isEmpty, allowed else { return nil }
        var port: Int?
        if !rest.isEmpty {
            guard rest.hasPrefix(":"), rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(rest.dropFirst()), (1...65535).contains(number)
            else { return nil }
            port = number
        }
        self.init(isSecure: isSecure, host: host.lowercased(), port: port)
    }

    /// `host:port` as a URL and the Host field have it; the scheme's own port is left out.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// `https://host:port`.
    package var description: String { "\(isSecure ? "https" : "http")://\(authority)" }

    /// The origin and the request target that a URL names, as in a Location or Destination field; nil for no http URL.
    package static func parse(_ url: String) -> (origin: HTTPOrigin, target: String)? {
        for (prefix, isSecure) in [("http://", false), ("https://", true)]
        where url.lowercased().hasPrefix(prefix) {
            let rest = url.dropFirst(prefix.count)
            let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
            guard let origin = HTTPOrigin(isSecure: isSecure, authority: String(rest[..<end])) else { return nil }
            let target = rest[end...].prefix { $0 != "#" }
            return (origin, target.hasPrefix("/") ? String(target) : "/\(target)")
        }
        return nil
    }
}
