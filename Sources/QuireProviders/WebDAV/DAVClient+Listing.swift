import QuireCore

extension DAVClient {
    /// What a directory has in it, itself included; nil where nothing is there, or no directory.
    ///
    /// What the server says of the directory itself decides: some answer with it alone where they cannot read it, and some
    /// end a long listing with a second word on it.
    /// - Parameters:
    ///   - depth: `1` or `infinity`.
    ///   - limit: most bytes of an answer.
    /// - Throws: as `propfind`; `.permissionDenied` and `.failed` where the server does not show all.
    func list(
        _ directory: RelativePath, depth: String = "1", limit: Int = 256 << 20
    ) async throws(ProviderError) -> [(path: RelativePath, resource: DAVResource)]? {
        guard let found = try await propfind(directory, depth: depth, isDirectory: true, limit: limit) else {
            return nil
        }
        let own = found.filter { $0.path == directory }.map(\.resource)
        if let cut = own.first(where: { $0.status == 507 }) {
            let count = Set(found.lazy.map(\.path)).subtracting([directory]).count
            throw ProviderError(
                .failed,
                "\(directory) cannot be listed: the server lists no more than \(count) entries; raise the "
                    + "server's limit, or move some to another directory",
                cause: cut.refusal)
        }
        if own.contains(where: { $0.status == 404 }) { return nil }
        let refused = own.first { $0.status.map { !(200..<300).contains($0) } ?? false }
        if refused == nil, own.contains(where: \.isDirectory) { return found }
        if refused == nil, own.contains(where: { $0.size != nil && $0.refused == nil }) { return nil }
        guard let refused = refused ?? own.first(where: { $0.refused != nil }) else {
            throw ProviderError(.failed, "\(directory): the server's listing is not of this directory")
        }
        let isDenied = [401, 403].contains(refused.status ?? refused.refused)
        throw ProviderError(
            isDenied ? .permissionDenied : .failed, "\(directory) cannot be listed: the server refuses it",
            cause: refused.refusal)
    }

    /// Whether a 401 is of what was asked for alone: that of the account is one of its root, too.
    ///
    /// - Throws: the account's.
    func acceptsAccount() async throws(ProviderError) -> Bool {
        try await propfind(.root, depth: "0", isDirectory: true) != nil
    }
}
