/// The name of the copy that keeps the losing version of a conflict:
/// `NAME (conflicted copy YYYY-MM-DD from DEVICE).EXT`.
///
/// A copy is recognised by its name alone, so every device lists it, whichever made it.
public struct ConflictName: Sendable, Equatable {
    /// The name of the document that it is a copy of; its beginning, where that was too long to have the rest added.
    public let original: FileName
    /// Whether the copy's name is so long that the document's may have been cut.
    package let mayBeCut: Bool
    /// `YYYY-MM-DD`.
    public let date: String
    /// The display name of the device whose version this is.
    public let device: String

    /// Reads a conflict copy's name; nil where `name` is not one.
    public init?(_ name: FileName) {
        // Asked of each name that comes or goes; most have nothing in parentheses.
        guard name.bytes.contains(0x29), let text = name.string,
            let open = text.range(of: Self.opening, options: .last)
        else { return nil }
        let tail = text[open.upperBound...]
        guard let from = tail.firstRange(of: Self.separator), let close = tail[from.upperBound...].lastIndex(of: ")")
        else {
            return nil
        }
        let date = tail[..<from.lowerBound]
        guard Self.isDate(date), let original = FileName(String(text[..<open.lowerBound] + tail[close...].dropFirst()))
        else { return nil }
        self.original = original
        mayBeCut = name.bytes.count >= Self.longest - Self.mostDropped
        self.date = String(date)
        self.device = String(tail[from.upperBound..<close])
    }

    /// The name for a new conflict copy.
    ///
    /// The result is at most 255 bytes: the stem is cut, at a character's border, where needed.
    /// - Parameters:
    ///   - original: the document's name.
    ///   - date: `YYYY-MM-DD`, in the device's time zone.
    ///   - device: display name, of which there is room for 40 characters and 120 bytes; slashes and control characters
    ///     become `-`.
    ///   - attempt: 1 for the first try; from 2 on the number is added (`… from DEVICE 2).EXT`), for names that are
    ///     taken.
    package static func make(original: FileName, date: String, device: String, attempt: Int = 1) -> FileName {
        let shownDevice = String(device.unicodeScalars.map { $0.value < 0x20 || $0 == "/" ? "-" : Character($0) })
        // A character may have any number of bytes.
        let bytes = Array(shownDevice.prefix(40).utf8)
        let by = String(decoding: bytes.prefix(cutLength(bytes[...], atMost: longestDevice)), as: UTF8.self)
        let number = attempt > 1 ? " \(attempt)" : ""
        let mark = Array("\(opening)\(date)\(separator)\(by)\(number))".utf8)
        let (stem, suffix) = original.stemAndExtension
        let room = max(0, longest - mark.count - suffix.count)
        let kept = Array(stem.prefix(cutLength(stem, atMost: room)))
        return FileName(unchecked: kept + mark + suffix.prefix(longest - mark.count - kept.count))
    }

    /// Whether it is the name of a copy of the document of that name.
    package func isCopy(of document: FileName) -> Bool {
        if original == document { return true }
        guard mayBeCut else { return false }
        let (stem, suffix) = document.stemAndExtension
        let cut = original.bytes.dropLast(suffix.count)
        return original.bytes.suffix(suffix.count) == suffix && cut.count < stem.count && stem.starts(with: cut)
    }

    /// The names for a new conflict copy, in the order in which they are tried: 1,000 for a document, a day and a device.
    package static func candidates(
        original: FileName, date: String, device: String
    ) -> LazyMapSequence<ClosedRange<Int>, FileName> {
        (1...mostCopies).lazy.map { make(original: original, date: date, device: device, attempt: $0) }
    }

    /// Of one document, of one day and device.
    package static let mostCopies = 1000

    /// How many bytes of `bytes` to keep, so that the first one dropped begins a character.
    private static func cutLength(_ bytes: ArraySlice<UInt8>, atMost room: Int) -> Int {
        guard bytes.count > room else { return bytes.count }
        let start = bytes.startIndex
        var length = room
        // A character has at most three continuation bytes; where there are more, it is not UTF-8.
        while length > 0, room - length < 4, bytes[start + length] & 0xC0 == 0x80 { length -= 1 }
        return room - length < 4 ? length : room
    }

    /// Bytes of a name.
    private static let longest = 255
    /// Bytes of a device's name in it.
    private static let longestDevice = 120
    /// Bytes that are free in the longest name, where the next character of the document's had no room.
    private static let mostDropped = 3
    private static let opening = " (conflicted copy "
    private static let separator = " from "

    private static func isDate(_ text: Substring) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.count) == [4, 2, 2] && parts.allSatisfy { $0.allSatisfy(\.isNumber) }
    }
}

extension RelativePath {
    /// The document that this is a conflict copy of, by its name; nil where it is none.
    package var documentOfConflict: RelativePath? {
        guard let name, let parent, let conflict = ConflictName(name) else { return nil }
        return parent.appending(conflict.original)
    }

    /// Whether this is, by its name, a conflict copy of `document`, beside it.
    package func isConflictCopy(of document: RelativePath) -> Bool {
        guard let name, let other = document.name, parent == document.parent else { return false }
        return ConflictName(name)?.isCopy(of: other) ?? false
    }
}

extension String {
    fileprivate enum SearchOption { case last }

    fileprivate func range(of needle: String, options: SearchOption) -> Range<Index>? { ranges(of: needle).last }
}
