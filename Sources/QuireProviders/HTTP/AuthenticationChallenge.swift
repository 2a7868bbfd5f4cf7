/// One way to prove who asks, as a WWW-Authenticate field offers it (RFC 9110 §11.6.1).
struct AuthenticationChallenge {
    /// Lower case.
    var scheme: String
    /// Names in lower case, values without quotes.
    var parameters: [String: String]

    /// Reads one field, which may hold several challenges. What cannot be read ends the list.
    static func parse(_ field: String) -> [AuthenticationChallenge] {
        var found: [AuthenticationChallenge] = []
        var rest = Array(field.utf8)[...]
        while true {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x2C }
            let word = token(&rest)
            guard !word.isEmpty else { return found }
            let after = rest.drop { $0 == 0x20 || $0 == 0x09 }
            guard after.first == 0x3D, !found.isEmpty else {
                found.append(AuthenticationChallenge(scheme: word.lowercased(), parameters: [:]))
                continue
            }
            rest = after.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }
            found[found.count - 1].parameters[word.lowercased()] = rest.first == 0x22 ? quoted(&rest) : token(&rest)
        }
    }

    private static func token(_ rest: inout ArraySlice<UInt8>) -> String {
        let word = rest.prefix { !" \t,=\"".utf8.contains($0) }
        rest = rest.dropFirst(word.count)
        return String(decoding: word, as: UTF8.self)
    }

    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> String {
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != 0x22 {
            if byte == 0x5C, let next = rest.popFirst() { value.append(next) } else { value.append(byte) }
        }
        return String(decoding: value, as: UTF8.self)
    }
}
