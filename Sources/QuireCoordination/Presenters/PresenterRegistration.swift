package import QuireCore

/// A party that wants to be asked before others touch its item, and told afterwards.
package struct PresenterRegistration: Sendable {
    /// Chosen by who registers; not that of another presenter that is registered.
    package var id: PresenterID
    /// Whose death ends it.
    package var client: ClientID
    /// The client's process: its plain access through the mount never waits for its own presenters' questions.
    package var processID: Int32?
    /// What the process calls itself, for `quire coordination`.
    package var program: String?
    /// The item; nil while it is not created yet: then nothing is sent.
    package var path: RelativePath?
    /// Whether the item is a directory: then changes of its own content are no `didChange`, unless it is a package.
    package var isDirectory = false
    /// The purpose of the coordinators made with this presenter: their requests go ahead of those that ask it.
    package var purpose: Purpose
    package var callbacks: PresenterCallbacks
    /// The ubiquity attributes whose changes it is told of.
    package var observedAttributes: Set<String>
    /// When it was made, on the machine's clock.
    package var now: Duration

    package init(
        id: PresenterID, client: ClientID, processID: Int32? = nil, program: String? = nil, path: RelativePath?,
        purpose: Purpose, callbacks: PresenterCallbacks = .all, observedAttributes: Set<String> = [],
        now: Duration = .zero
    ) {
        self.id = id
        self.client = client
        self.processID = processID
        self.program = program
        self.path = path
        self.purpose = purpose
        self.callbacks = callbacks
        self.observedAttributes = observedAttributes
        self.now = now
    }
}
