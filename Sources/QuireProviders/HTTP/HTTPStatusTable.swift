import QuireCore

/// Where a status that is no success becomes `ProviderError`. The one table for WebDAV (RFC 9110, RFC 4918) and S3.
enum HTTPStatusTable {
    /// - Parameters:
    ///   - what: the item and what was tried, as in "notes/a.txt cannot be written".
    ///   - words: the server's own, nil where it said nothing.
    static func error(_ answer: HTTPAnswer, _ what: String, words: String?) -> ProviderError {
        let says = "the server says \(answer.status)\(name(answer.status).map { " \($0)" } ?? "")"
        let cause = words.map { "\(says): \($0)" } ?? says
        let (code, remedy) = meaning(answer)
        return ProviderError(
            code, "\(what): \(remedy)", cause: cause,
            isSecretRefused: answer.status == 401 && !offersNothingKnown(answer))
    }

    private static func meaning(_ answer: HTTPAnswer) -> (ProviderError.Code, String) {
        switch answer.status {
        case 300..<400:
            (.unavailable, "the server sends to another address; if it has moved, add the provider with its new URL")
        case 401 where offersNothingKnown(answer):
            (
                .unavailable,
                "the server offers no way of signing in that Quire knows; have it offer Basic or Digest as well"
            )
        case 401: (.unavailable, "the server does not accept the user name and secret")
        case 403: (.permissionDenied, "the server does not allow it")
        case 404, 410: (.notFound, "it is not there")
        // Also what a proxy says while its server is away: no reason never to try again.
        case 405, 501: (.failed, "the server does not do this")
        case 409: (.parentMissing, "its directory is not at the server, or something else is in the way")
        case 412: (.conditionFailed, "something else is there than was expected")
        case 413: (.unsupported, "it is larger than the server takes")
        case 414: (.invalidName, "its path is longer than the server takes; rename it")
        case 423: (.failed, "somebody has it locked")
        case 425: (.unavailable, "the server is still at work on it")
        case 429, 503: (.unavailable, "the server is busy\(wait(answer))")
        case 502, 504: (.unavailable, "the server behind the gateway does not answer")
        case 507: (.noSpace, "the server's disk is full, or the quota used up; make room there")
        case 509: (.unavailable, "the server has sent as much as it may for now; raise its limit, or wait")
        case 511: (.unavailable, "the network wants a login first; open any page in a browser there")
        // What RFC 9110 does not name: Cloudflare's, and other gateways' own.
        case 520...530: (.unavailable, "the server behind the gateway does not answer")
        case 531..<600: (.unavailable, "a gateway before the server reported an error")
        default: (.failed, "the server reported an error")
        }
    }

    /// Whether all that the server offers are ways of Windows' domains, or kinds of Digest that are not known.
    private static func offersNothingKnown(_ answer: HTTPAnswer) -> Bool {
        let offers = answer.fields.values(of: "WWW-Authenticate").flatMap(AuthenticationChallenge.parse)
        return !offers.isEmpty
            && offers.allSatisfy { offer in
                ["negotiate", "ntlm", "kerberos"].contains(offer.scheme)
                    || (offer.scheme == "digest" && DigestChallenge(offer) == nil)
            }
    }

    private static func wait(_ answer: HTTPAnswer) -> String {
        answer.fields["Retry-After"].flatMap { Int($0) }.map { " and asks to wait \($0) s" } ?? ""
    }

    /// Reason phrases of RFC 9110 §15, RFC 4918 §11, RFC 8470 §5.2 and RFC 6585 §6 that tell a person something.
    private static func name(_ status: Int) -> String? {
        [
            400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
            408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
            413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
            422: "Unprocessable Content", 423: "Locked", 424: "Failed Dependency", 425: "Too Early",
            429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
            503: "Service Unavailable",
            504: "Gateway Timeout", 507: "Insufficient Storage", 509: "Bandwidth Limit Exceeded",
            511: "Network Authentication Required",
        ][status]
    }
}
