import Glibc
import Synchronization

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
                mkdir("\(base)/\(client)", 0o755)
                let files = place.sizes.files / clients
                let names = try Names(in: "\(base)/\(client)", count: files)
                try names.makeDirectories()
                return Client(names, try Names(in: "\(base)/\(client)", count: files, prefix: "renamed"))
            }
            let seconds = timed { Client.runTogether(all) }
            for client in all { if let error = client.error { throw error } }
            return seconds
        }
    }
}

/// One client with files of its own. Used by one thread at a time.
private final class Client {
    private let names: Names
    private let others: Names
    private(set) var error: BenchmarkError?

    init(_ names: Names, _ others: Names) {
        self.names = names
        self.others = others
    }

    /// Runs each in a thread of its own, to the end of all.
    static func runTogether(_ clients: [Client]) {
        let threads = clients.map { client in
            var thread = pthread_t()
            let context = Unmanaged.passRetained(client).toOpaque()
            pthread_create(
                &thread, nil,
                { context in
                    if let context { Unmanaged<Client>.fromOpaque(context).takeRetainedValue().run() }
                    return nil
                }, context)
            return thread
        }
        for thread in threads { pthread_join(thread, nil) }
    }

    private func run() {
        withBytes(1024) { bytes in
            for (path, other) in zip(names.paths, others.paths) {
                guard
                    Call.create(names.directory, path, UnsafeRawBufferPointer(bytes)) == 0,
                    Call.status(names.directory, path) == 0,
                    Call.read(names.directory, path, bytes) == 0,
                    renameat(names.directory, path, names.directory, other) == 0,
                    Call.status(names.directory, other) == 0,
                    unlinkat(names.directory, other, 0) == 0
                else {
                    error = BenchmarkError("client", String(cString: path))
                    return
                }
            }
        }
    }
}
