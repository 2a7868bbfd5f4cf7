import QuireCore

/// How a presenter's client is reached. Neither method may block or call the coordinator; calls come in order, one at a
/// time, from any thread.
package protocol PresenterLink: Sendable {
    /// Asks; the client's answer goes to `Coordinator.answer`.
    func ask(_ question: QuestionID, of presenter: PresenterID, _ content: PresenterQuestion, timeout: Duration)
    func tell(_ presenter: PresenterID, _ message: PresenterMessage)
    /// It did not answer in time, and is passed over until it does. Once until then.
    func passedOver(_ presenter: PresenterID, _ question: PresenterQuestion)
}

/// The mount, as far as its programs have files open for writing without a claim.
package protocol MountWriters: AnyObject, Sendable {
    /// Whether any file is open for writing. Cheap; must not wait.
    var isWriting: Bool { get }

    /// Returns when the operations that programs began while the coordinator was not active are done. Short.
    func finishOperations()

    /// Whether there are none at this moment. Does not wait.
    var isIdle: Bool { get }

    /// Runs `body` when presenters were told what programs have done so far: now, or a moment later on another thread.
    func inOrder(_ body: @escaping @Sendable () -> Void)

    /// Returns when no program but that of the process `except` is writing to an item of `accesses`, or the task is
    /// cancelled. A handle that has not written for a while does not count.
    func untilQuiet(_ accesses: [Access], except process: Int32?) async
}
