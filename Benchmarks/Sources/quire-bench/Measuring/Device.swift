/// A device number's two parts, as glibc's `major` and `minor` macros take them apart.
struct Device {
    let major: UInt
    let minor: UInt

    init(_ number: UInt) {
        major = (number >> 8) & 0xFFF | (number >> 32) & 0xFFFF_F000
        minor = number & 0xFF | (number >> 12) & 0xFFFF_FF00
    }
}
