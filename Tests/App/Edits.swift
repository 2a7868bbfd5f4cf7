import Foundation
import Quire

/// Many edits of one document, each of which adds a line.
enum Edits {
    static func run(_ name: String, _ count: Int, _ url: URL, isCoordinated: Bool) async {
        var again = 0
        for number in 1...count {
            while true {
                do {
                    try await edit("\(name) \(number)\n", url, isCoordinated)
                    break
                } catch let error as CocoaError
                    where error.code == .fileNoSuchFile || error.code == .fileReadNoSuchFile
                    || (!isCoordinated && (error.code == .fileReadUnknown || error.code == .fileWriteUnknown))
                {
                    // Another device's version is being put in the place of this one; without coordination a read or an
                    // opening may also meet a document that somebody replaces, twice in a row, or cuts short under it.
                    again += 1
                    try? await Task.sleep(for: .milliseconds(1))
                } catch {
                    return Output.line("failed", name, Output.describe(error))
                }
            }
        }
        Output.line("edited", name, "\(again)")
    }

    private static func edit(_ line: String, _ url: URL, _ isCoordinated: Bool) async throws {
        guard isCoordinated else { return try add(line, to: url) }
        try await FileCoordinator().coordinate(writingItemAt: url) { try add(line, to: $0) }
    }

    /// Reads, changes and writes, as editors do.
    private static func add(_ line: String, to url: URL) throws {
        var text = try Data(contentsOf: url)
        text += Data(line.utf8)
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: text)
        try file.close()
    }

    /// Prints how many of the edits `names` × 1…`count` are neither in the document nor in a version in conflict with it.
    static func count(_ count: Int, of names: [String], _ url: URL) async {
        do {
            let versions = try await FileVersion.unresolvedConflictVersionsOfItem(at: url)
            var lines = Set<Substring>()
            guard versions.allSatisfy({ $0.url != nil }) else {
                return Output.line("failed", "count", "a version is nowhere")
            }
            let texts = try ([url] + versions.compactMap(\.url)).map { try String(contentsOf: $0, encoding: .utf8) }
            for text in texts { lines.formUnion(text.split(separator: "\n")) }
            let inDocument = Set(texts[0].split(separator: "\n"))
            let wanted = names.flatMap { name in (1...count).map { "\(name) \($0)" } }
            let missing = wanted.filter { !lines.contains(Substring($0)) }
            Output.line(
                "missing", "\(missing.count)", "document=\(wanted.filter { inDocument.contains(Substring($0)) }.count)",
                "versions=\(versions.count)", missing.prefix(5).joined(separator: ","))
        } catch {
            Output.line("failed", "count", Output.describe(error))
        }
    }
}
