/// Has work that nobody waits for wait while programs keep the drive busy; not for ever.
struct ProgramsFirst: Sendable {
    /// Whether they do, now.
    let isBusy: @Sendable () -> Bool

    /// In tenths of a second.
    private static let patience = 50

    /// Returns when they rest, after five seconds, or when the task is cancelled.
    func callAsFunction() async {
        for _ in 0..<Self.patience where isBusy() && !Task.isCancelled {
            // Cancelled: the caller sees to that.
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}
