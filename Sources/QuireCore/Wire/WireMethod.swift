/// One method of the control socket: its name, and the shapes of what goes in and comes out.
///
/// `Documentation/Protocol.md` describes each with an example.
package protocol WireMethod: Sendable {
    associatedtype Parameters: Codable & Sendable
    associatedtype Result: Codable & Sendable
    /// What `partial` notifications carry before the answer; methods without them keep the default.
    associatedtype Partial: Codable & Sendable = WireNothing

    /// The `method` member of the request.
    static var name: String { get }
}

/// An empty object: no parameters, or nothing to say.
package struct WireNothing: Codable, Sendable, Hashable {
    package init() {}
}
