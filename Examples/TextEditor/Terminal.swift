import Foundation
import Glibc

/// The terminal that the program runs in: keys one by one, a window drawn whole. Each character takes one column.
@MainActor
final class Terminal {
    let keys: AsyncStream<Key>
    private let key: AsyncStream<Key>.Continuation
    private var before = termios()
    private var hasBegun = false
    private let resizing = DispatchSource.makeSignalSource(signal: SIGWINCH)

    /// Nil where the standard input is no terminal.
    init?() {
        (keys, key) = AsyncStream.makeStream(of: Key.self)
        guard isatty(0) == 1, tcgetattr(0, &before) == 0 else { return nil }
    }

    /// Takes the terminal over.
    func begin() throws {
        var raw = before
        cfmakeraw(&raw)
        guard tcsetattr(0, TCSANOW, &raw) == 0 else { throw CocoaError(.fileReadUnknown) }
        hasBegun = true
        let key = key
        resizing.setEventHandler { key.yield(.resized) }
        resizing.activate()
        Thread.detachNewThread {
            var parser = KeyParser()
            while let data = Self.typed() {
                for parsed in parser.parse(data) { key.yield(parsed) }
            }
            // The terminal is gone: as if the person left.
            key.yield(.leave)
            key.finish()
        }
    }

    /// Waits for what is typed; nil when the terminal is gone. A signal, as when the window changes its size, ends no wait.
    private nonisolated static func typed() -> Data? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var count: Int
        repeat { count = read(STDIN_FILENO, &bytes, bytes.count) } while count < 0 && errno == EINTR
        return count > 0 ? Data(bytes.prefix(count)) : nil
    }

    /// Gives it back.
    func end() {
        guard hasBegun else { return }
        resizing.cancel()
        write("\u{1B}[2J\u{1B}[H")
        tcsetattr(0, TCSANOW, &before)
        hasBegun = false
    }

    /// Title on top, message below, between them the lines around the caret.
    func draw(title: String, _ text: String, _ message: String, _ caret: Caret) {
        let (rows, columns) = size
        let room = max(1, rows - 2)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let (line, column) = caret.place(in: text)
        let top = max(0, line - room + 1)
        var output = "\u{1B}[H\(fit(title, columns))\u{1B}[K"
        for row in 0..<room {
            let shown = top + row < lines.count ? fit(lines[top + row], columns) : "~"
            output += "\u{1B}[\(row + 2);1H\(shown)\u{1B}[K"
        }
        output += "\u{1B}[\(rows);1H\(fit(message, columns))\u{1B}[K"
        output += "\u{1B}[\(line - top + 2);\(min(column, columns - 1) + 1)H"
        write(output)
    }

    private func fit(_ text: some StringProtocol, _ columns: Int) -> String {
        String(text.prefix(columns).map { $0.isASCII && $0 < " " ? "?" : $0 })
    }

    private var size: (rows: Int, columns: Int) {
        var window = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &window) == 0, window.ws_row > 2, window.ws_col > 0 else { return (24, 80) }
        return (Int(window.ws_row), Int(window.ws_col))
    }

    private func write(_ text: String) {
        // A terminal that is gone ends the keys, too.
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}
