/// The methods about presenters: three of the daemon, one of the client.
package enum PresenterMethods {
    /// Registers a presenter; it goes with `presenter.remove` or with the connection.
    package enum Add: WireMethod {
        package static let name = "presenter.add"

        package struct Parameters: Codable, Sendable {
            /// Nil: it has no item yet.
            package var path: WirePath?
            /// The purpose of the coordinators made with it; nil: one of its own, which is in the answer.
            package var purpose: String?
            /// The callbacks it implements; nil: all.
            package var callbacks: [String]?
            /// The ubiquity attributes it wants to hear of.
            package var observedAttributes: [String]?

            package init(
                path: WirePath?, purpose: String? = nil, callbacks: [String]? = nil, observedAttributes: [String]? = nil
            ) {
                self.path = path
                self.purpose = purpose
                self.callbacks = callbacks
                self.observedAttributes = observedAttributes
            }
        }

        package struct Result: Codable, Sendable {
            package var presenter: UInt64
            package var purpose: String

            package init(presenter: UInt64, purpose: String) {
                self.presenter = presenter
                self.purpose = purpose
            }
        }
    }

    /// Ends a registration.
    package enum Remove: WireMethod {
        package static let name = "presenter.remove"

        package struct Parameters: Codable, Sendable {
            package var presenter: UInt64

            package init(presenter: UInt64) { self.presenter = presenter }
        }

        package typealias Result = WireNothing
    }

    /// Gives a presenter another item, or one at last.
    package enum SetPath: WireMethod {
        package static let name = "presenter.setPath"

        package struct Parameters: Codable, Sendable {
            package var presenter: UInt64
            package var path: WirePath?

            package init(presenter: UInt64, path: WirePath?) {
                self.presenter = presenter
                self.path = path
            }
        }

        package typealias Result = WireNothing
    }

    /// The daemon calls a presenter. Calls to the presenters of one client come in order; each is answered.
    package enum Call: WireMethod {
        package static let name = "presenter.call"

        package struct Parameters: Codable, Sendable {
            package var presenter: UInt64
            /// Which callback: see Documentation/Protocol.md.
            package var callback: String
            /// Of `relinquishToReader` and `relinquishToWriter`, and of the `reacquire` that belongs to it.
            package var question: UInt64?
            /// For questions: after so long the daemon goes on without the answer.
            package var timeoutSeconds: Double?
            /// The item below that it is about, or where the presenter's item is now.
            package var path: WirePath?
            /// Where the item below was.
            package var from: WirePath?
            /// `gained`, `lost` or `resolved`, with the version's name.
            package var event: String?
            package var version: String?
            package var attributes: [String]?

            package init(presenter: UInt64, callback: String) {
                self.presenter = presenter
                self.callback = callback
            }
        }

        package struct Result: Codable, Sendable {
            /// Whether to be called back when the access ends; for relinquish only.
            package var reacquires: Bool?

            package init(reacquires: Bool? = nil) { self.reacquires = reacquires }
        }
    }
}
