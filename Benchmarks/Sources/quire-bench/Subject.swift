import Glibc

/// A way to the same file system: bare, through the drive, or through bindfs.
struct Subject {
    let name: String
    /// Where to work; fresh for this run.
    let directory: String
    let stop: () -> Void

    static func bare(_ root: String) throws(BenchmarkError) -> Subject {
        try make("\(root)/bare")
        return Subject(name: "bare", directory: "\(root)/bare") {}
    }

    static func drive(_ options: Options, _ root: String) throws(BenchmarkError) -> Subject {
        let home = "\(root)/home"
        let mountpoint = "\(root)/drive"
        try make(mountpoint)
        let environment = ["QUIRE_HOME": home, "QUIRE": options.quire]
        if !options.uploads {
            // The home is made by the first mount; a settle time longer than the run then keeps uploads out of it.
            try Shell.run("\"$QUIRE\" mount \(mountpoint) && \"$QUIRE\" unmount", environment: environment)
            try Shell.run("sed -i 's/^settle_milliseconds.*/settle_milliseconds = 3600000/' \(home)/config.toml")
        }
        try Shell.run("\"$QUIRE\" mount \(mountpoint)", environment: environment)
        return Subject(name: "quire", directory: mountpoint) { try? Shell.run("\"$QUIRE\" unmount 2>&1") }
    }

    static func bindfs(_ root: String) throws(BenchmarkError) -> Subject {
        try make("\(root)/bindfs-store")
        try make("\(root)/bindfs")
        try Shell.run("bindfs \(root)/bindfs-store \(root)/bindfs")
        return Subject(name: "bindfs", directory: "\(root)/bindfs") { try? Shell.run("fusermount3 -u \(root)/bindfs") }
    }

    private static func make(_ path: String) throws(BenchmarkError) {
        guard mkdir(path, 0o755) == 0 else { throw BenchmarkError("mkdir", path) }
    }
}
