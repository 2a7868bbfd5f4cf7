import Glibc

/// Reads of a descriptor that a signal does not break off.
///
/// Foundation's `FileHandle` ends the process where a signal interrupts `availableData` or `readDataToEndOfFile`.
package enum DescriptorReading {
    /// Waits for bytes of a file, pipe or terminal: at most `most`, none at its end. For any thread that may wait.
    ///
    /// - Throws: `.failed` with what the system says.
    package static func next(from descriptor: Int32, most: Int = 65_536) throws(QuireError) -> [UInt8] {
        try filled(descriptor, limit: most) { buffer in
            var count: Int
            repeat { count = read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
            return count
        }
    }

    /// The first bytes of a file: `limit`, or all where there are fewer. Moves no position.
    ///
    /// For any thread that may wait.
    ///
    /// - Throws: `.failed` with what the system says.
    package static func beginning(of descriptor: Int32, limit: Int) throws(QuireError) -> [UInt8] {
        try filled(descriptor, limit: limit) { buffer in
            var used = 0
            while used < buffer.count {
                let count = pread(
                    descriptor, buffer.baseAddress?.advanced(by: used), buffer.count - used, off_t(used))
                if count < 0, errno == EINTR { continue }
                if count < 0 { return count }
                if count == 0 { break }
                used += count
            }
            return used
        }
    }

    /// What `fill` writes into room for `limit` bytes; it answers how many, or -1 with errno.
    ///
    /// An array without room is never made: all empty arrays share one, whose count would be written while other
    /// threads read it.
    private static func filled(
        _ descriptor: Int32, limit: Int, _ fill: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) throws(QuireError) -> [UInt8] {
        guard limit > 0 else { return [] }
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, used in
            let count = fill(buffer)
            if count < 0 { failure = errno }
            used = max(0, count)
        }
        guard failure == 0 else {
            throw QuireError(.failed, "descriptor \(descriptor) cannot be read: \(String(cString: strerror(failure)))")
        }
        return bytes
    }

    /// All that is left of it.
    ///
    /// - Throws: as `next`.
    package static func rest(of descriptor: Int32) throws(QuireError) -> [UInt8] {
        var bytes: [UInt8] = []
        while case let more = try next(from: descriptor), !more.isEmpty { bytes += more }
        return bytes
    }
}
