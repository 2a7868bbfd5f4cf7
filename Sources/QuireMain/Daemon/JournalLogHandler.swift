import Logging
import QuireCommandLine

/// A log that the journal reads: each line with its priority in front (sd-daemon(3)), without a time of its own.
struct JournalLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    /// Where lines go.
    var write: @Sendable ([UInt8]) -> Void = { Output.write($0, to: 2) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }
        let shown = values.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        // One line: each line of the text would need a priority.
        let text = "\(event.message)\(shown)".split(separator: "\n").joined(separator: " ")
        write(Array("<\(Self.priority(event.level))>\(text)\n".utf8))
    }

    /// Of syslog(3).
    static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
