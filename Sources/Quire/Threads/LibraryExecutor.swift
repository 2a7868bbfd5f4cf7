import QuireCore

/// Where the library's own work runs, system calls on the mount included, which may wait for a download: never on the
/// cooperative pool, never on an app's actor.
enum LibraryExecutor {
    // Threads come with the work and go when they are idle.
    static let shared = PoolExecutor(label: "quire-client", width: 64, niceness: 0)

    /// Runs `body` there, or where it is called in a `CallerExecutor`'s task.
    static func run<Value: Sendable, Failure: Error>(
        _ body: @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard !CallerExecutor.isRunning else { return try await body() }
        let result = await withTaskExecutorPreference(shared) { () async -> Result<Value, Failure> in
            do throws(Failure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
