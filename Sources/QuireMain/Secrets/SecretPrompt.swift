import Glibc
import QuireCommandLine
import QuireCore
import QuireProviders

/// Where a provider's secret comes from: `QUIRE_SECRET`, or a person at the terminal. Never an argument, which others on the
/// machine can read.
enum SecretPrompt {
    /// - Returns: nil where there is none: no user is named and nobody can be asked.
    /// - Throws: `.usage` where a user's secret is needed and nobody can be asked.
    static func secret(for url: QuireProviders.ProviderURL) throws(QuireError) -> String? {
        guard url.wantsSecret else { return nil }
        if let value = getenv("QUIRE_SECRET") { return String(cString: value) }
        guard isatty(STDIN_FILENO) == 1 else {
            guard let user = url.user else { return nil }
            throw QuireError(
                .usage, "the secret of \(user) at \(url) is not known",
                remedy: "Give it in QUIRE_SECRET, or at a terminal")
        }
        let secret = ask(url.user.map { "Password of \($0): " } ?? "Token, empty for none: ")
        return secret.isEmpty ? nil : secret
    }

    /// Asks on the terminal without showing what is typed.
    private static func ask(_ question: String) -> String {
        var before = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &before) == 0
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO)
        if isTerminal { tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) }
        defer { if isTerminal { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) } }
        Output.prompt(question)
        let line = readLine() ?? ""
        Output.prompt("\n")
        return line
    }
}
