extension UInt8 {
    /// A letter of ASCII in lower case; any other byte as it is.
    package var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}
