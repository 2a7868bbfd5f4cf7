/// Arithmetic with sizes, which are what files and servers say: two sparse files may add up to more than a number holds.
extension FixedWidthInteger where Self: SignedInteger {
    /// The sum, or the nearest number there is.
    package func addingClamped(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number there is.
    package func subtractingClamped(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}

extension Int64 {
    /// The whole part of `number`, or the nearest number there is; 0 for what is no number.
    package init(clamping number: Double) {
        // 2^63 itself is no Int64, and the double next below it is one.
        self = number.isNaN ? 0 : number >= 0x1p63 ? .max : number <= -0x1p63 ? .min : Int64(number)
    }
}
