import Foundation
import Glibc
import QuireCore
import Testing

/// `quire-app`, a program that uses the client library, in a process of its own: told what to do, it says what happens.
///
/// `@unchecked Sendable`: the process and its pipes are set once; lines are guarded by `condition`.
final class App: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let condition = NSCondition()
    private var lines: [String] = []
    /// What was taken of `lines`.
    private var said: [String] = []
    private var isOver = false

    /// - Parameter environment: beside the tests' own.
    init(environment: [String: String] = [:]) throws {
        process.executableURL = URL(filePath: "\(Machine.buildDirectory)/quire-app")
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        Thread.detachNewThread { [self] in read() }
    }

    deinit { kill() }

    var processID: pid_t { process.processIdentifier }

    /// Ends the process at once, wherever it is.
    func kill() { if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) } }

    func tell(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// The next line is this one; lines that begin with one of `skipping` are left out.
    func hears(
        _ wanted: String, skipping: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let line = try await next(skipping: skipping, uploads: wanted.hasSuffix(Self.uploading))
        #expect(line == wanted, sourceLocation: sourceLocation)
        if line != wanted { throw Trouble("\"\(line)\" came, not \"\(wanted)\"") }
    }

    /// Has it register a presenter.
    ///
    /// - Parameter count: how many it has then.
    func present(
        _ name: String, at path: String, count: Int = 1, skipping: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try tell("present \(name) \(path)")
        try await hears("presenting \(name) \(count)", skipping: skipping, sourceLocation: sourceLocation)
    }

    /// A presenter is asked and told these, in this order.
    func hears(
        callbacks: [String], of presenter: String, skipping: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var skipping = skipping
        for callback in callbacks {
            try await hears("callback \(presenter) \(callback)", skipping: skipping, sourceLocation: sourceLocation)
            // Once, or twice where the index is brought up to date in the middle of the change.
            if callback == "didChange" { skipping.append("callback \(presenter) didChange") }
        }
    }

    /// The next lines are these, in whatever order.
    func hears(allOf wanted: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        var found: [String] = []
        for _ in wanted { found.append(try await next()) }
        #expect(found.sorted() == wanted.sorted(), sourceLocation: sourceLocation)
    }

    /// What presenters are told when an upload begins or ends, which may be at any time.
    private static let uploading = "didChangeUbiquityAttributes"

    /// The next line.
    ///
    /// - Parameter uploads: whether it may tell of an upload; such lines are skipped otherwise.
    func next(skipping: [String] = [], uploads: Bool = false, patienceSeconds: Double = 20) async throws -> String {
        while true {
            let line = try await nextLine(patienceSeconds)
            if !uploads, line.hasSuffix(Self.uploading) { continue }
            if !skipping.contains(where: line.hasPrefix) { return line }
        }
    }

    /// Nothing is said for so long, but of uploads.
    func isSilent(milliseconds: Int = 150, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await Task.sleep(for: .milliseconds(milliseconds))
        let found = condition.withLock { lines }.filter { !$0.hasSuffix(Self.uploading) }
        #expect(found.isEmpty, sourceLocation: sourceLocation)
    }

    private func nextLine(_ patienceSeconds: Double) async throws -> String {
        let line: String? = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(returning: wait(patienceSeconds)) }
        }
        guard let line else {
            throw Trouble(
                "the app said nothing more after:\n\(condition.withLock { said.suffix(20).joined(separator: "\n") })")
        }
        return line
    }

    private func wait(_ patienceSeconds: Double) -> String? {
        let end = Date(timeIntervalSinceNow: patienceSeconds)
        condition.lock()
        defer { condition.unlock() }
        while lines.isEmpty, !isOver {
            if !condition.wait(until: end) { return nil }
        }
        guard !lines.isEmpty else { return nil }
        said.append(lines[0])
        return lines.removeFirst()
    }

    private func read() {
        var buffer = Data()
        let descriptor = output.fileHandleForReading.fileDescriptor
        while let data = try? DescriptorReading.next(from: descriptor), !data.isEmpty {
            buffer += data
            while let end = buffer.firstIndex(of: 0x0A) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer = Data(buffer[(end + 1)...])
                condition.withLock {
                    lines.append(line)
                    condition.broadcast()
                }
            }
        }
        condition.withLock {
            isOver = true
            condition.broadcast()
        }
    }
}
