/// How an index was opened.
package enum IndexOpening: Sendable, Hashable {
    case existing
    /// There was none.
    case created
    /// The former one was damaged. It was set aside under this path, with its `-wal` beside it.
    case rebuilt(setAside: String)
}
