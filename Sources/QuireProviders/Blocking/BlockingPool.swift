package import QuireCore

/// Runs a provider's blocking work in the background, cancellably.
package final class BlockingPool: Sendable {
    private let pool: BackgroundPool
    private let isQuick: Bool

    /// - Parameters:
    ///   - label: the threads' name, 15 bytes at the most.
    ///   - width: how many pieces at a time; 1 or more.
    ///   - isQuick: no piece of work takes long: where the calling task runs on a thread that may block, it is done in place.
    package init(label: String, width: Int, isQuick: Bool = false) {
        pool = BackgroundPool(label: label, width: width)
        self.isQuick = isQuick
    }

    /// Runs `body` on a thread of the pool and returns what it returns.
    ///
    /// Cancelling the calling task sets the `Cancellation` that `body` is given; work that has not begun by then never
    /// does.
    /// - Throws: what `body` throws; `.cancelled`.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (Cancellation) throws(ProviderError) -> Value
    ) async throws(ProviderError) -> Value {
        let cancellation = Cancellation()
        let result: Result<Value, ProviderError> = await withTaskCancellationHandler {
            do throws(ProviderError) {
                let work = { @Sendable () throws(ProviderError) -> Value in
                    try cancellation.check()
                    return try body(cancellation)
                }
                return .success(isQuick && BackgroundPool.isHere ? try work() : try await pool.run(work))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }
}
