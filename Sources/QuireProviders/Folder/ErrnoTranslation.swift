import Glibc
import QuireCore

/// Where errno becomes `ProviderError`; nowhere else.
enum ErrnoTranslation {
    /// - Parameters:
    ///   - path: the item the call was about.
    ///   - action: what was tried, as in "cannot be written".
    static func error(_ failure: SystemFailure, _ path: RelativePath, _ action: String) -> ProviderError {
        let reason = "\(failure.call): \(text(failure.code))"
        func make(_ code: ProviderError.Code, _ remedy: String) -> ProviderError {
            ProviderError(code, "\(path) cannot be \(action): \(remedy)", cause: reason)
        }
        switch failure.code {
        case ENOSPC, EDQUOT:
            return make(.noSpace, "the provider's disk is full or over quota; make room there")
        case EACCES, EPERM, EROFS:
            return make(.permissionDenied, "permission denied at the provider; check owner and mode of the folder")
        case ENAMETOOLONG, EILSEQ:
            return make(.invalidName, "the provider cannot hold this name; rename it")
        case EINVAL:
            return make(.invalidName, "the provider's filesystem refuses this name; rename it")
        case EEXIST:
            return make(.conditionFailed, "something else is there")
        case ENOTEMPTY:
            return make(.notEmpty, "the directory is not empty")
        case ENOENT:
            return make(.notFound, "it is not there")
        case ELOOP:
            return make(.failed, "a symbolic link is on the way, and links are not followed")
        case EXDEV:
            return make(.failed, "it lies on another filesystem than the provider's folder")
        case EFBIG:
            return make(.unsupported, "it is larger than the provider's filesystem allows")
        case ENOTSUP, ENOSYS:
            return make(.unsupported, "the provider's filesystem cannot do this")
        case EIO, ENODEV, ENXIO, ENOTCONN, ESTALE, ESHUTDOWN, EHOSTDOWN, EHOSTUNREACH, ETIMEDOUT:
            return make(.unavailable, "the provider's disk does not answer; is it still attached?")
        default:
            return make(.failed, "the provider's filesystem reported an error")
        }
    }

    /// Runs system calls about `path` and translates what fails.
    static func about<Value: ~Copyable>(
        _ path: RelativePath, _ action: String, _ body: () throws(SystemFailure) -> Value
    ) throws(ProviderError) -> Value {
        do throws(SystemFailure) {
            return try body()
        } catch {
            throw Self.error(error, path, action)
        }
    }

    /// What `strerror` says.
    static func text(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: start)
        }
    }
}
