import Glibc
import QuireCore

/// Results in the order of their paths: a directory comes before what lies in it. One piece of memory for all.
struct SortedPlaces {
    private struct Place {
        var id: Int64
        var start: Int
        var count: Int
    }

    /// The paths, one after another, with separators that come before every other byte.
    private var bytes: [UInt8] = []
    private var places: [Place] = []

    /// A result by its directory and name.
    mutating func add(_ id: Int64, in directory: RelativePath, _ name: some Collection<UInt8>) {
        let start = bytes.count
        if !directory.isRoot {
            for byte in directory.bytes { bytes.append(byte == Self.slash ? 0 : byte) }
            bytes.append(0)
        }
        bytes += name
        places.append(Place(id: id, start: start, count: bytes.count - start))
    }

    /// All of them, in order.
    func sorted() -> [Found] {
        bytes.withUnsafeBytes { bytes in
            let sorted = places.sorted { one, other in
                let left = UnsafeRawBufferPointer(rebasing: bytes[one.start..<one.start + one.count])
                let right = UnsafeRawBufferPointer(rebasing: bytes[other.start..<other.start + other.count])
                // Empty names there are not.
                guard let first = left.baseAddress, let second = right.baseAddress else { return false }
                let comparison = memcmp(first, second, min(one.count, other.count))
                return comparison == 0 ? one.count < other.count : comparison < 0
            }
            return sorted.map { place in
                let path = bytes[place.start..<place.start + place.count].map { $0 == 0 ? Self.slash : $0 }
                return Found(id: place.id, path: RelativePath(unchecked: path))
            }
        }
    }

    private static let slash: UInt8 = 0x2F
}
