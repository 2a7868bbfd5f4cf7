import Glibc
import QuireCommandLine
import QuireCore
import Synchronization

/// Says how far a `sync` is: on a terminal in one line that is written anew, elsewhere in lines now and then, or as JSON.
final class ProgressLines: Sendable {
    private struct State {
        var width = 0
        var isShown = false
        var next = ContinuousClock.now + ProgressLines.between
    }

    /// Between two lines of a log.
    private static let between = Duration.seconds(10)

    private let json: Bool
    private let isTerminal: Bool
    /// Innermost lock; the line is written under it, so that parts keep their order.
    private let state = Lock(State())

    init(json: Bool, isTerminal: Bool = isatty(STDERR_FILENO) == 1) {
        self.json = json
        self.isTerminal = isTerminal
    }

    func show(_ progress: DriveMethods.Sync.Partial) {
        // A part always has a form in JSON: it came as such.
        if json { return (try? Output.json(progress)) ?? () }
        guard progress.filesTotal > 0 else { return }
        state.withLock { state in isTerminal ? redraw(progress, &state) : log(progress, &state) }
    }

    /// Ends the line, where there is one.
    func end() {
        state.withLock { state in
            guard state.isShown else { return }
            state.isShown = false
            Output.write(Array("\n".utf8), to: STDERR_FILENO)
        }
    }

    private func redraw(_ progress: DriveMethods.Sync.Partial, _ state: inout State) {
        let text = Self.text(progress)
        let blanks = String(repeating: " ", count: max(0, state.width - text.count))
        state.width = text.count
        state.isShown = true
        Output.write(Array("\r\(text)\(blanks)".utf8), to: STDERR_FILENO)
    }

    private func log(_ progress: DriveMethods.Sync.Partial, _ state: inout State) {
        guard ContinuousClock.now >= state.next else { return }
        state.next = .now + Self.between
        Output.message(Self.text(progress))
    }

    /// `12 of 40 files, 34 MB of 1.2 GB, 5.6 MB/s, 3 min 28 s left`.
    static func text(_ progress: DriveMethods.Sync.Partial) -> String {
        let size = { (bytes: Int64) in "\(ByteCount(max(0, bytes)))" }
        var parts = ["\(progress.filesDone) of \(progress.filesTotal) files"]
        if progress.bytesTotal > 0 { parts.append("\(size(progress.bytesDone)) of \(size(progress.bytesTotal))") }
        if progress.bytesPerSecond > 0 { parts.append("\(size(progress.bytesPerSecond))/s") }
        if let seconds = progress.secondsLeft { parts.append("\(duration(seconds)) left") }
        return parts.joined(separator: ", ")
    }

    private static func duration(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
        default: "\(seconds / 3600) h \(seconds / 60 % 60) min"
        }
    }
}
