import Glibc
import QuireCore

/// The user's Secret Service, freedesktop's, as GNOME Keyring and KWallet offer it; asked by libsecret's program
/// `secret-tool`.
///
/// A secret goes to that program through a pipe, and comes back through one; arguments name only what it belongs to. All
/// methods block for as long as the program takes.
struct SecretService: Sendable {
    /// What a secret is found by.
    struct Attributes: Sendable, Hashable {
        /// Absolute path.
        let home: String
        let provider: String

        fileprivate var arguments: [String] { ["service", "quire", "home", home, "provider", provider] }
    }

    /// Of the user's session bus; nil where there is none, and so no service.
    let bus: String?
    /// A name is looked up in PATH.
    var program = "secret-tool"
    /// How long the service may take.
    var patience: Duration = .seconds(10)
    /// How long a person may take to unlock the keyring.
    var personsPatience: Duration = .seconds(120)

    /// - Parameter environment: looks up a variable.
    init(environment: (String) -> String?) {
        let runtime = environment("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())"
        let socket = "\(runtime)/bus"
        bus = environment("DBUS_SESSION_BUS_ADDRESS") ?? (access(socket, F_OK) == 0 ? "unix:path=\(socket)" : nil)
    }

    /// Of the environment of this process.
    static var ofThisUser: SecretService { SecretService { name in getenv(name).map { String(cString: $0) } } }

    /// Whether `secret-tool` is installed and a service answers it. Nobody is asked to unlock anything.
    var isAnswering: Bool {
        guard let answer = try? run(["search", "service", "quire-is-there"]) else { return false }
        return answer.status == 0 || Self.words(answer) == nil
    }

    /// The secret. Nobody is asked to unlock a keyring: a daemon would do so again and again.
    ///
    /// - Throws: `.temporary` while its keyring is locked, or no service answers; `.notFound` where it keeps none.
    func secret(_ attributes: Attributes) throws(QuireError) -> String {
        let found = try run(["search"] + attributes.arguments)
        let lines = found.output.split(separator: "\n")
        guard lines.contains(where: { $0.hasPrefix("[") }) else {
            if let words = Self.words(found) { throw silent(attributes, words) }
            throw QuireError(
                .notFound, "the Secret Service keeps no secret of \(attributes.provider) any more",
                remedy: "Give it again: `quire provider secret \(attributes.provider)`")
        }
        guard lines.contains(where: { $0.hasPrefix("secret = ") }) else {
            throw QuireError(
                .temporary, "the keyring that keeps the secret of \(attributes.provider) is locked",
                remedy: "Unlock it, as by logging in to the desktop; or have a file keep it: "
                    + "`quire provider secret \(attributes.provider) --secret-in file`")
        }
        let answer = try run(["lookup"] + attributes.arguments)
        guard answer.status == 0, !answer.output.isEmpty else {
            throw silent(attributes, Self.words(answer) ?? "it gave nothing")
        }
        return String(answer.output.prefix { !$0.isNewline })
    }

    /// Keeps the secret, in place of an earlier one. The service may ask the user to unlock the keyring.
    ///
    /// - Throws: `.unavailable` in the service's words.
    func keep(_ secret: String, _ attributes: Attributes) throws(QuireError) {
        let answer = try run(
            ["store", "--label=Quire: \(attributes.provider)"] + attributes.arguments, input: Array(secret.utf8),
            patience: personsPatience)
        guard answer.status == 0 else {
            throw QuireError(
                .unavailable,
                "the Secret Service does not keep the secret of \(attributes.provider): "
                    + (Self.words(answer) ?? "it gave no reason"),
                remedy: "Unlock the keyring, or have a file of mode 0600 keep it: --secret-in file, also of "
                    + "`quire provider secret \(attributes.provider)`")
        }
    }

    /// Forgets the secret; nothing happens where none is kept.
    func remove(_ attributes: Attributes) throws(QuireError) {
        let answer = try run(["clear"] + attributes.arguments)
        // It says nothing of what is locked.
        let left = try run(["search"] + attributes.arguments)
        guard left.output.contains("[") || left.status != 0 && Self.words(left) != nil else { return }
        throw QuireError(
            .failed,
            "the Secret Service still keeps the secret of \(attributes.provider)"
                + (Self.words(answer).map { ": \($0)" } ?? ", as its keyring is locked"),
            remedy: "Unlock the keyring, then `\(command("clear", attributes))`")
    }

    private func run(
        _ arguments: [String], input: [UInt8] = [], patience: Duration? = nil
    ) throws(QuireError) -> Subprocess.Answer {
        guard let bus else {
            throw QuireError(
                .temporary, "there is no session bus, and so no Secret Service",
                remedy: "Start the drive from within the user's session")
        }
        return try Subprocess(path: program, arguments: arguments).exchange(
            input, environment: ["DBUS_SESSION_BUS_ADDRESS": bus, "LC_ALL": "C"], deadline: patience ?? self.patience)
    }

    /// Others write to its standard error, too.
    private static func words(_ answer: Subprocess.Answer) -> String? {
        let own = answer.errors.split(separator: "\n").last { $0.hasPrefix("secret-tool: ") }
        return own.map { String($0.dropFirst("secret-tool: ".count)) }
    }

    private func silent(_ attributes: Attributes, _ words: String) -> QuireError {
        QuireError(
            .temporary, "the Secret Service does not give the secret of \(attributes.provider): \(words)",
            remedy: "Start or unlock the keyring")
    }

    /// What a person would type.
    private func command(_ what: String, _ attributes: Attributes) -> String {
        "secret-tool \(what) service quire home '\(attributes.home)' provider \(attributes.provider)"
    }
}
