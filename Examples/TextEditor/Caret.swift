/// Where typing goes, in characters from the text's beginning. A text may become shorter behind its back.
struct Caret {
    enum Direction { case left, right, up, down }

    private(set) var offset = 0

    /// The line and the column, from 0.
    func place(in text: String) -> (line: Int, column: Int) {
        let before = text.prefix(offset)
        let line = before.count { $0 == "\n" }
        let begin = before.lastIndex(of: "\n").map { before.index(after: $0) } ?? before.startIndex
        return (line, before.distance(from: begin, to: before.endIndex))
    }

    mutating func insert(_ inserted: String, in text: inout String) {
        offset = min(offset, text.count)
        text.insert(contentsOf: inserted, at: text.index(text.startIndex, offsetBy: offset))
        offset += inserted.count
    }

    mutating func delete(in text: inout String) {
        offset = min(offset, text.count)
        guard offset > 0 else { return }
        offset -= 1
        text.remove(at: text.index(text.startIndex, offsetBy: offset))
    }

    mutating func move(_ direction: Direction, in text: String) {
        offset = min(offset, text.count)
        switch direction {
        case .left: offset = max(0, offset - 1)
        case .right: offset = min(text.count, offset + 1)
        case .up: moveLines(-1, in: text)
        case .down: moveLines(1, in: text)
        }
    }

    private mutating func moveLines(_ count: Int, in text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let (line, column) = place(in: text)
        guard lines.indices.contains(line + count) else { return }
        let before = lines.prefix(line + count).reduce(0) { $0 + $1.count + 1 }
        offset = before + min(column, lines[line + count].count)
    }
}
