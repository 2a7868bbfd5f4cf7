extension Workspace {
    /// Two devices of one provider that ask it only when told to, each with the document `doc`, whose content is `base`.
    ///
    /// The second one's way to the provider is a link, `network`, so that it alone can be cut off.
    func devicesOnNetwork() async throws -> (first: Drive, second: Drive) {
        try await sh("mkdir -p server/shared; ln -s server network")
        let first = try await drive("first", provider: "\(root)/server/shared")
        let second = try await drive("second", provider: "\(root)/network/shared")
        for drive in [first, second] {
            try drive.configure("device_name", "\"\(drive.name)\"")
            try drive.configure("poll_seconds", "3600")
            try await drive.mount()
        }
        try await first.sh("echo base > doc")
        try await first.sync()
        try await second.sync()
        return (first, second)
    }
}
