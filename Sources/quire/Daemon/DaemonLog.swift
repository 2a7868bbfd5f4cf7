import Logging
import QuireCore
import QuireStore

/// Where the daemon's log goes: standard error, which in the background is `daemon.log`.
enum DaemonLog {
    static func logger(verbose: Bool) -> Logger {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = verbose ? .debug : .info
            return handler
        }
        return Logger(label: "quire")
    }

    /// For libraries that tell every step: warnings only.
    static var quiet: Logger {
        Logger(label: "quire.services") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .warning
            return handler
        }
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
