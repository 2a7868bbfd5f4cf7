import Glibc

/// One client with files of its own. Used by one thread at a time.
final class Client {
    private let names: Names
    private let others: Names
    private(set) var error: BenchmarkError?

    /// - Parameter directory: is made.
    init(in directory: String, files: Int) throws(BenchmarkError) {
        guard mkdir(directory, 0o755) == 0 else { throw BenchmarkError("mkdir", directory) }
        names = try Names(in: directory, count: files)
        others = try Names(in: directory, count: files, prefix: "renamed")
        try names.makeDirectories()
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
