/// How much each row does.
struct Sizes: Sendable {
    /// Small files of the system-call rows, in directories of 100.
    let files: Int
    /// How often the rows that only look go over them.
    let passes: Int
    /// Entries of the source tree: directories, files and symlinks.
    let entries: Int
    /// Of the file for content.
    let mebibytes: Int
    /// Of small writes.
    let writes: Int
    /// Of writes that are each synced, and of transactions.
    let syncs: Int

    static let full = Sizes(files: 3000, passes: 10, entries: 9700, mebibytes: 256, writes: 50_000, syncs: 300)
    static let trips = Sizes(files: 1000, passes: 2, entries: 1000, mebibytes: 32, writes: 2000, syncs: 100)
    static let quick = Sizes(files: 200, passes: 2, entries: 300, mebibytes: 8, writes: 1000, syncs: 10)
}
