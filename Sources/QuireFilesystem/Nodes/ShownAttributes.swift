import CFuse

/// What programs are told of a file, and for how long the kernel may repeat it.
struct ShownAttributes {
    var status: stat
    /// Whether the kernel may keep it until it is told otherwise. Not while a writer's data passes the driver by: a mapping
    /// changes the times without a word. Not of a file that had several names: when one goes, the kernel counts down by itself,
    /// also what it was told with that already counted.
    var mayBeKept: Bool

    /// A year: names and attributes are the driver's alone to change, and it tells the kernel when they do.
    static let longTimeoutSeconds = 31_536_000.0

    /// How long the kernel may keep the attributes, as FUSE wants it.
    var timeoutSeconds: Double { mayBeKept ? Self.longTimeoutSeconds : 0 }
}
