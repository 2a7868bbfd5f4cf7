import Testing

/// Expects two texts of lines to be equal; a difference is shown as the lines that only one of them has.
func expectSame(
    _ found: String, _ wanted: String, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    guard found != wanted else { return }
    let (left, right) = (found.split(separator: "\n"), wanted.split(separator: "\n"))
    let onlyLeft = Set(left).subtracting(right)
    let onlyRight = Set(right).subtracting(left)
    let shown =
        left.filter(onlyLeft.contains).prefix(20).map { "+ \($0)" }
        + right.filter(onlyRight.contains).prefix(20).map { "- \($0)" }
    let text = shown.isEmpty ? "the order of lines differs" : shown.joined(separator: "\n")
    Issue.record("\(what) differ (+ found, - wanted):\n\(text)", sourceLocation: sourceLocation)
}
