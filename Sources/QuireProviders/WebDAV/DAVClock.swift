import QuireCore

/// This device's clock, as far as what is done at a server hangs on it.
struct DAVClock: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    /// Returns after that time, or throws `.cancelled`.
    var pause: @Sendable (Duration) async throws(ProviderError) -> Void = { (duration) async throws(ProviderError) in
        try await HTTPFailure.pause(duration)
    }
}
