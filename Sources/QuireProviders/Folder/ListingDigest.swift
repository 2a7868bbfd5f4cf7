import QuireCore

/// A fingerprint of a listing that does not depend on its order: the cursor of a folder's changes.
///
/// Two sums of 64-bit hashes and a count; against accident, not against malice.
struct ListingDigest {
    private var sums: (UInt64, UInt64) = (0, 0)
    private var count = 0

    mutating func add(_ item: RemoteItem) {
        var hash = FNV1a.empty
        func mix(_ byte: UInt8) { hash = FNV1a.step(hash, byte) }
        func mixAll(_ number: UInt64) {
            for shift in stride(from: UInt64(0), to: 64, by: 8) { mix(UInt8(number >> shift & 0xFF)) }
        }
        for byte in item.path.bytes { mix(byte) }
        mix(0)
        for byte in item.version.rawValue.utf8 { mix(byte) }
        mixAll(UInt64(item.mode ?? 0xFFFF))
        mixAll(UInt64(bitPattern: item.mtime.nanoseconds))
        for byte in item.symlinkTarget ?? [] { mix(byte) }
        sums.0 &+= Self.scatter(hash)
        sums.1 &+= Self.scatter(hash ^ 0x9E37_79B9_7F4A_7C15)
        count += 1
    }

    /// Adds all that another digest has.
    mutating func add(_ other: ListingDigest) {
        sums.0 &+= other.sums.0
        sums.1 &+= other.sums.1
        count += other.count
    }

    var cursor: ChangeCursor {
        ChangeCursor("1-\(count)-\(String(sums.0, radix: 16))-\(String(sums.1, radix: 16))")
    }

    /// SplitMix64's finalizer: spreads each bit over all.
    private static func scatter(_ value: UInt64) -> UInt64 {
        var value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
