import QuireCore

/// What `quire mount` says when the drive is there.
enum Greeting {
    static func text(mountpoint: String, provider: SetupMethods.Provider?) -> String {
        let keeper = provider.map { "\($0.name) (\($0.url))" } ?? "no provider"
        return """
            Your drive is at \(mountpoint)
            It is kept by \(keeper)

            Three things to try:
              echo hello > \(quoted("\(mountpoint)/hello.txt"))    save a document
              quire sync && quire status                 see that the provider has it
              quire unmount                              end; documents stay in the store
            """
    }

    /// For a shell, where needed.
    private static func quoted(_ path: String) -> String {
        let plain = path.utf8.allSatisfy { byte in
            byte > 0x7F || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "/._-".utf8.contains(byte)
        }
        return plain
            ? path : "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
