import QuireCore

/// Work that blocks on the local disk, on a thread of its own.
enum Blocking {
    static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try OwnedThread.start(name: "quire-blocking") {
                    continuation.resume(with: Result { () throws(Failure) -> Value in try body() }.mapError { $0 })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
