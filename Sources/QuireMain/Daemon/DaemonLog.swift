import Logging
import QuireCore
import QuireStore

/// Where the daemon's log goes: standard error, which in the background is `daemon.log`.
enum DaemonLog {
    /// Who reads it.
    case terminal, journal

    func logger(verbose: Bool) -> Logger {
        LoggingSystem.bootstrap { label in handler(label, verbose ? .debug : .info) }
        return Logger(label: "quire")
    }

    /// For libraries that tell every step: warnings only.
    var quiet: Logger { Logger(label: "quire.services") { label in handler(label, .warning) } }

    private func handler(_ label: String, _ level: Logger.Level) -> any LogHandler {
        var handler: any LogHandler =
            switch self {
            case .terminal: StreamLogHandler.standardError(label: label)
            case .journal: JournalLogHandler()
            }
        handler.logLevel = level
        return handler
    }
}

extension QuireError {
    /// The store's errors, as a person meets them.
    init(_ error: StoreError) {
        let code: Code =
            switch error.code {
            case .notFound: .notFound
            case .permissionDenied: .notAllowed
            case .homeInUse, .unsuitableFilesystem, .noSpace, .wrongKind: .unavailable
            case .cancelled, .changed, .tooFresh: .temporary
            case .alreadyExists, .notEmpty, .dataless, .failed: .failed
            }
        self.init(code, error.message, remedy: error.remedy)
    }
}
