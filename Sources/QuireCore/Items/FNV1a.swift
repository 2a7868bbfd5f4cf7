/// The hash FNV-1a of 64 bits (draft-eastlake-fnv): small, and the same everywhere and for ever. Against accident, not against
/// malice.
package enum FNV1a {
    /// Of no bytes.
    package static let empty: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash with one byte more.
    @inlinable
    package static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }

    /// Of bytes in their order.
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(empty, step) }
}
