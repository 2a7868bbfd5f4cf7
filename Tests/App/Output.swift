import Foundation

/// What the tests read: one line for each event, written whole.
enum Output {
    private static let lock = NSLock()

    static func line(_ words: String...) {
        lock.withLock {
            // Into a pipe; the tests are gone where this fails, and so is the need for it.
            try? FileHandle.standardOutput.write(contentsOf: Data((words.joined(separator: " ") + "\n").utf8))
        }
    }

    static func describe(_ error: any Error) -> String {
        if let error = error as? CocoaError { return "cocoa \(error.code.rawValue)" }
        return "\(error)".replacing("\n", with: " ")
    }
}
