import QuireCore

/// What stores say about a refusal: `<Error><Code>…</Code><Message>…</Message></Error>`.
enum S3Errors {
    static func words(_ answer: HTTPAnswer) -> String? {
        let values = S3ElementReader.values(answer.body)
        guard let code = values["Code"] else { return ServerWords.plain(answer) }
        return ServerWords.shortened(values["Message"].map { "\(code): \($0)" } ?? code)
    }

    /// What an answer means that does not find what was sent before.
    static func gone(_ answer: HTTPAnswer, _ what: String) -> ProviderError {
        ProviderError(
            .failed, "\(what): what was sent of it is gone from the store; it is sent again", cause: words(answer))
    }

    /// What the code of an answer means where its status does not tell; nil where that does.
    ///
    /// - Parameter what: the item and what was tried, as in "notes/a.txt cannot be written".
    static func error(_ answer: HTTPAnswer, _ what: String) -> ProviderError? {
        let values = S3ElementReader.values(answer.body)
        let code = values["Code"] ?? ""
        func error(
            _ kind: ProviderError.Code, _ reason: String, isSecretRefused: Bool = false
        ) -> ProviderError {
            ProviderError(kind, "\(what): \(reason)", cause: words(answer), isSecretRefused: isSecretRefused)
        }
        // Which region requests are signed for is part of that header.
        if code == "AuthorizationHeaderMalformed", let region = values["Region"].flatMap(ServerWords.shortened) {
            return error(.unavailable, "the store is in the region \(region); write ?region=\(region) into its URL")
        }
        switch code {
        case "NoSuchBucket": return error(.unavailable, "there is no such bucket any more")
        case "NoSuchUpload": return gone(answer, what)
        case "BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch":
            return error(.corrupt, "what arrived is not what was sent")
        // Another conditional write was under way: this one did not happen.
        case "ConditionalRequestConflict", "OperationAborted", "PreconditionFailed":
            return error(.conditionFailed, "something else is there than was expected")
        case "KeyTooLongError": return error(.invalidName, "its path is longer than the store takes; rename it")
        case "QuotaExceeded", "XMinioStorageFull", "InsufficientCapacity":
            return error(.noSpace, "the store is full; make room there")
        case "SlowDown", "RequestLimitExceeded": return error(.unavailable, "the store is busy")
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired",
            "AuthorizationHeaderMalformed":
            return error(
                .unavailable, "the store does not accept the access key and secret", isSecretRefused: true)
        case "RequestTimeTooSkewed": return error(.unavailable, "this device's clock is wrong")
        default: return nil
        }
    }
}
