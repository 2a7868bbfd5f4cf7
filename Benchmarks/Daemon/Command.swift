import Foundation
import QuireCore

/// Programs, run to their end.
enum Command {
    /// - Throws: `.unavailable` when it fails.
    static func run(_ program: String, _ arguments: String...) throws { try run(program, arguments) }

    /// - Throws: `.unavailable` when it fails.
    static func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw QuireError(.unavailable, "\(program) \(arguments) ended with \(process.terminationStatus)")
        }
    }
}
