/// A system call that failed.
struct SystemFailure: Error {
    /// The errno it left.
    let code: Int32
    /// Its name, for messages.
    let call: String

    init(_ code: Int32, _ call: String) {
        self.code = code
        self.call = call
    }
}
