import Glibc

/// Several clients at once.
extension Row {
    static let concurrentRows: [Row] = [concurrent(2), concurrent(4)]

    /// Calls that one client makes for each of its files.
    private static let callsPerFile = 6

    private static func concurrent(_ clients: Int) -> Row {
        Row(
            key: "clients-\(clients)", name: "\(clients) clients: create, stat, read, rename, stat, unlink",
            unit: .operations { $0.files / clients * clients * callsPerFile }, target: Target()
        ) { place in
            let base = place.path("clients\(clients)")
            mkdir(base, 0o755)
            let all = try (0..<clients).map { client in
                try Client(in: "\(base)/\(client)", files: place.sizes.files / clients)
            }
            let seconds = timed { Client.runTogether(all) }
            for client in all { if let error = client.error { throw error } }
            return seconds
        }
    }
}
