/// The methods of `DocumentProvider`, for scripts of faults and for counting.
package enum ProviderCall: String, Sendable, Hashable, CaseIterable {
    case connect, changes, item, fetch, put, putSymlink, createDirectory, setAttributes, move, delete, announce
    case freeSpace
}
