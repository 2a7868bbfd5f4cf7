import QuireCore

/// What `quire mount` says when the drive is there.
enum Greeting {
    /// - Parameter home: the drive's home where one was given, which each command needs then.
    static func text(mountpoint: String, provider: SetupMethods.Provider?, home: String?) -> String {
        let keeper = provider.map { "\($0.name) (\($0.url))" } ?? "no provider"
        let option = home.map { " --home \(ShellWord.quoted($0))" } ?? ""
        let things = [
            ("echo hello > \(ShellWord.quoted("\(mountpoint)/hello.txt"))", "save a document"),
            ("quire sync\(option) && quire status\(option)", "see that the provider has it"),
            ("quire unmount\(option)", "end; documents stay in the store"),
        ]
        let width = things.map(\.0.count).max() ?? 0
        let lines = things.map { "  \($0)\(String(repeating: " ", count: width - $0.count))    \($1)" }
        return """
            Your drive is at \(mountpoint)
            It is kept by \(keeper)

            Three things to try:
            \(lines.joined(separator: "\n"))
            """
    }
}
