import Glibc

/// What only the drive has.
extension Subject {
    /// Uploads wait for an hour after a change. The drive is stopped, and has been mounted once.
    func delayUploads() throws(BenchmarkError) {
        try Program.run(
            "sed", "-i", "s/^settle_milliseconds.*/settle_milliseconds = 3600000/", "\(home)/config.toml")
    }

    /// Returns when the index knows what is in the store.
    func waitForRescan() throws(BenchmarkError) {
        while (try? Program.script("\(quire) status --home \(home) --json | grep -q '\"rescanning\" *: *false'")) == nil
        {
            guard server.map({ kill($0, 0) == 0 }) == true else { throw BenchmarkError("the daemon is gone") }
            usleep(500_000)
        }
    }

    /// Of the server, in MB.
    var residentMegabytes: Double {
        guard let server, let file = fopen("/proc/\(server)/statm", "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
        return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1e6
    }
}
