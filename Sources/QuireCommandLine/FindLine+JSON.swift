import QuireCore

extension FindLine {
    /// Reads a part of the daemon's answer, an array of paths: what is printed of it.
    static func all(from scanner: inout JSONScanner, null: Bool) throws(JSONScanner.Refusal) -> [UInt8] {
        var lines: [UInt8] = []
        _ = try scanner.array { scanner throws(JSONScanner.Refusal) in
            // Most names, of which there may be many: nothing in them is to be changed.
            if let plain = scanner.plainString() {
                lines += plain
                lines.append(null ? 0 : 0x0A)
            } else {
                lines += bytes(try WirePath(from: &scanner).path, null: null)
            }
        }
        return lines
    }
}
