/// How much is brought before it is asked for. A value: one reader's.
///
///     reads here and there    ──▶ the blocks they touch
///     reads in order          ──▶ twice as much with each block, up to `longest`, then by `stride`
struct ReadAhead: Sendable {
    /// Documents come in multiples of this, from multiples of this on.
    static let block: Int64 = 4 << 20
    /// As far ahead of a reader something is always on its way, once it has gone on for long.
    static let longest: Int64 = 64 << 20
    /// What is asked for at one time then: a request costs a server as much as some megabytes do, and a few at a time fill the way.
    static let stride = longest / 4
    /// The kernel asks for the parts of what a program reads in any order: within this distance it is one reading.
    private static let slack: Int64 = 2 << 20

    private var end: Int64 = 0
    private var window: Int64 = 0
    /// Up to here it was asked for, of the reading that goes on.
    private var asked: Int64 = 0

    /// Notes a reading.
    ///
    /// - Returns: what should be on its way, from the beginning of its first block: nothing beyond these where the reader
    ///   jumps about.
    mutating func note(_ range: Range<Int64>, size: Int64) -> Range<Int64> {
        let goesOn = range.lowerBound <= end + Self.slack && range.upperBound + Self.slack >= end
        if !goesOn {
            (window, asked) = (0, 0)
        } else if range.upperBound > end, range.upperBound / Self.block > end / Self.block {
            window = min(max(window * 2, Self.block), Self.longest)
        }
        end = goesOn ? max(end, range.upperBound) : range.upperBound
        if range.upperBound + window > asked {
            asked = Self.blocks(range.lowerBound..<range.upperBound + window, size: size).upperBound
            if window == Self.longest { asked = min(asked + Self.stride - Self.block, size) }
        }
        let touched = Self.blocks(range, size: size)
        return touched.lowerBound..<max(touched.upperBound, asked)
    }

    /// The blocks that a range touches.
    static func blocks(_ range: Range<Int64>, size: Int64) -> Range<Int64> {
        let start = range.lowerBound / block * block
        let end = (range.upperBound + block - 1) / block * block
        return min(start, size)..<min(end, size)
    }
}
