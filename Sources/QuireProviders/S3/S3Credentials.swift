import Glibc

/// What requests are signed with.
package struct S3Credentials: Sendable, Hashable {
    package var accessKey: String
    package var secretKey: String
    /// Of temporary credentials.
    package var sessionToken: String?

    package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }

    /// Those of the environment (`AWS_ACCESS_KEY_ID` and so on), else of a profile in `~/.aws/credentials`, where AWS's own
    /// tools have them; nil where there are none.
    ///
    /// - Parameter profile: nil for `AWS_PROFILE`, else `default`.
    package static func ofThisUser(profile: String? = nil) -> S3Credentials? {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        if profile == nil, let key = variable("AWS_ACCESS_KEY_ID"), let secret = variable("AWS_SECRET_ACCESS_KEY") {
            return S3Credentials(accessKey: key, secretKey: secret, sessionToken: variable("AWS_SESSION_TOKEN"))
        }
        let file = variable("AWS_SHARED_CREDENTIALS_FILE") ?? variable("HOME").map { "\($0)/.aws/credentials" }
        guard let file, let text = contents(of: file) else { return nil }
        return parse(text, profile: profile ?? variable("AWS_PROFILE") ?? "default")
    }

    /// What to do where `ofThisUser` finds none, for people.
    package static func remedy(profile: String? = nil) -> String {
        let file = "~/.aws/credentials, which is looked at again"
        guard let profile else { return "write one into \(file), or name it in the store's URL" }
        return "write the profile \(profile) into \(file)"
    }

    /// Those of one section of a credentials file.
    package static func parse(_ text: String, profile: String) -> S3Credentials? {
        var values: [String: String] = [:]
        var isWanted = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmed
            if line.hasPrefix("[") {
                isWanted = line.dropFirst().prefix { $0 != "]" }.trimmed == profile
            } else if isWanted, let equals = line.firstIndex(of: "="), !line.hasPrefix("#") {
                let name = line[..<equals].trimmed.lowercased()
                values[name] = line[line.index(after: equals)...].trimmed
            }
        }
        guard let key = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else { return nil }
        return S3Credentials(accessKey: key, secretKey: secret, sessionToken: values["aws_session_token"])
    }

    private static func contents(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
