import Testing

/// Everything that drives the built binary from the outside. One suite so that its mounts come one after the other:
/// two cores share daemon, programs and the sync of two devices, and some promises are about time.
@Suite("End to end", .serialized, .enabled(if: Machine.canMount, "a drive can be mounted on this machine"))
enum EndToEnd {}

/// The long runs: random operations, kills and cuts. A lane of its own beside `EndToEnd`.
@Suite("Endurance", .serialized, .enabled(if: Machine.canMount, "a drive can be mounted on this machine"))
enum Endurance {}
