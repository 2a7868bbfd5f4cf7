import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import QuireCore

/// Where what a connection throws becomes `ProviderError`.
enum HTTPFailure {
    /// - Parameters:
    ///   - error: thrown by the HTTP client, or by what a request's body or an answer's receiver did.
    ///   - origin: the server, for the message. No path, query or field is in it.
    static func error(_ error: any Error, _ origin: HTTPOrigin) -> ProviderError {
        if let own = error as? ProviderError { return own }
        if error is CancellationError || Task.isCancelled { return cancelled }
        if let words = certificate(error, origin) { return ProviderError(.unavailable, words, cause: text(error)) }
        return ProviderError(.unavailable, "\(origin) \(reason(error))", cause: text(error))
    }

    /// Returns after that time.
    ///
    /// - Throws: `.cancelled`.
    static func pause(_ duration: Duration) async throws(ProviderError) {
        do { try await Task.sleep(for: duration) } catch { throw cancelled }
    }

    static let cancelled = ProviderError(.cancelled, "the operation was cancelled")

    /// Whether the connection had been closed before the request was answered: it may have gone stale while nobody
    /// used it.
    static func isClosed(_ error: any Error) -> Bool {
        if let error = error as? HTTPClientError { return error == .remoteConnectionClosed }
        if let error = error as? IOError { return [ECONNRESET, EPIPE].contains(error.errnoCode) }
        return false
    }

    private static func reason(_ error: any Error) -> String {
        if let error = error as? NIOConnectionError { return connection(error) }
        if let error = error as? IOError { return system(error) }
        if let error = error as? RequestSilence.Failure { return silence(error) }
        guard let error = error as? HTTPClientError else { return "broke off its answer, or gave none that is HTTP" }
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout: return "does not answer: no connection came about in time"
        case .deadlineExceeded: return "did not answer in time"
        case .remoteConnectionClosed: return "closed the connection before it had answered"
        case .getConnectionFromPoolTimeout: return "is busy: no connection was free in time"
        default: return "could not be asked"
        }
    }

    private static func silence(_ failure: RequestSilence.Failure) -> String {
        switch failure {
        case .sending: "stopped taking what was sent"
        case .answer: "did not answer in time"
        case .rest: "went silent in the middle of an answer"
        }
    }

    private static func connection(_ error: NIOConnectionError) -> String {
        if error.connectionErrors.isEmpty, error.dnsAError != nil || error.dnsAAAAError != nil {
            return "is not known: its name cannot be resolved"
        }
        if let first = error.connectionErrors.lazy.compactMap({ $0.error as? IOError }).first { return system(first) }
        return "does not answer: no connection came about in time"
    }

    private static func system(_ error: IOError) -> String {
        switch error.errnoCode {
        case ECONNREFUSED: "refuses connections: no server is running there"
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: "cannot be reached: there is no network, or no way there"
        case ECONNRESET, EPIPE: "closed the connection before it had answered"
        case ETIMEDOUT: "does not answer"
        default: "cannot be reached: \(ErrnoTranslation.text(error.errnoCode))"
        }
    }

    /// Nil where TLS was not what failed.
    private static func certificate(_ error: any Error, _ origin: HTTPOrigin) -> String? {
        switch error {
        case is CertificatePin.Mismatch:
            return "\(origin) shows another certificate than the one that ?pin= names; nothing was sent to it"
        case NIOSSLError.handshakeFailed, is NIOSSLExtraError, NIOSSLError.unableToValidateCertificate:
            return "\(origin) cannot be trusted, or speaks no TLS: its certificate is not valid for this name, is not "
                + "signed by an authority that this system knows, or has expired; nothing was sent to it"
        default: return nil
        }
    }

    /// What is beneath, in short.
    private static func text(_ error: any Error) -> String {
        // The client's own errors may quote fields.
        if let error = error as? HTTPClientError { return error.shortDescription }
        return String("\(error)".prefix(200))
    }
}
