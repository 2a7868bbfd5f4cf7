import Glibc
import QuireCore

/// Passwords and tokens of providers: `secrets/NAME` in the home, readable by its owner only. Never in the configuration, in
/// an argument, or in a message.
struct SecretFiles: Sendable {
    private let directory: String

    init(home: String) { directory = "\(home)/secrets" }

    /// The provider's secret; nil where none is kept.
    ///
    /// - Throws: `.failed` where others may read it, or it cannot be read.
    func secret(of name: String) throws(QuireError) -> String? {
        let descriptor = open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("cannot read", name, isLost: true)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("cannot read", name) }
        guard status.st_mode & 0o077 == 0 else {
            throw QuireError(
                .failed, "others may read \(path(name)), which holds a secret",
                remedy: "chmod 600 \(path(name)), change the secret at the server, and give the new one: "
                    + "`quire provider secret \(name)`")
        }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw failure("cannot read", name, isLost: true) }
        return String(decoding: bytes.prefix(count).prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// Keeps the provider's secret, on disk when this returns.
    ///
    /// - Parameter secret: as `ProviderSecrets.check` wants it.
    func keep(_ secret: String, of name: String) throws(QuireError) {
        try DurableFile.replace(path(name), with: Array("\(secret)\n".utf8))
    }

    /// Forgets the provider's secret; nothing happens where none is kept.
    func remove(of name: String) throws(QuireError) {
        guard unlink(path(name)) == 0 || errno == ENOENT else { throw failure("cannot remove", name) }
    }

    /// Most bytes of a secret's file.
    static let limit = 8192

    /// A provider's name is letters, digits, `-` and `_`.
    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    private func failure(_ what: String, _ name: String, isLost: Bool = false) -> QuireError {
        QuireError(
            .failed, "\(what) \(path(name)): \(String(cString: strerror(errno)))",
            remedy: isLost ? "Give the secret again: `quire provider secret \(name)`" : nil)
    }
}
