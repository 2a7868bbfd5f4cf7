/// Somebody who is asked on behalf of a claim, and whose own requests then do not wait for it.
package enum Respondent: Hashable, Sendable {
    /// All requests of this purpose.
    case purpose(Purpose)
    /// The plain access of this process through the mount.
    case process(Int32)
}
