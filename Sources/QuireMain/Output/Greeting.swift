import QuireCore

/// What `quire mount` says when the drive is there.
enum Greeting {
    static func text(mountpoint: String, provider: SetupMethods.Provider?) -> String {
        let keeper = provider.map { "\($0.name) (\($0.url))" } ?? "no provider"
        return """
            Your drive is at \(mountpoint)
            It is kept by \(keeper)

            Three things to try:
              echo hello > \(ShellWord.quoted("\(mountpoint)/hello.txt"))    save a document
              quire sync && quire status                 see that the provider has it
              quire unmount                              end; documents stay in the store
            """
    }
}
