import Glibc

/// Reads of a descriptor that a signal does not break off.
///
/// Foundation's `FileHandle` ends the process where a signal interrupts `availableData` or `readDataToEndOfFile`.
package enum DescriptorReading {
    /// Waits for bytes of a file, pipe or terminal: at most `most`, none at its end. For any thread that may wait.
    ///
    /// - Throws: `.failed` with what the system says.
    package static func next(from descriptor: Int32, most: Int = 65_536) throws(QuireError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, used in
            var count: Int
            repeat { count = read(descriptor, buffer.baseAddress, most) } while count < 0 && errno == EINTR
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
