/// The methods about coordinated access.
package enum CoordinationMethods {
    /// Who holds and who waits.
    package enum Dump: WireMethod {
        package static let name = "coordination"
        package typealias Parameters = WireNothing

        package struct Result: Codable, Sendable {
            package var claims: [Claim]
            /// Missing from daemons that know of none.
            package var presenters: [Presenter]?

            package init(claims: [Claim], presenters: [Presenter]) {
                self.claims = claims
                self.presenters = presenters
            }
        }
    }

    /// A claim that is held or waited for.
    package struct Claim: Codable, Sendable, Hashable {
        package var id: UInt64
        /// `held`, `waiting` for claims, or `asking` presenters or programs that write.
        package var state: String
        package var paths: [WirePath]
        /// Of the first path: `read`, `write`, `write forDeleting` and so on.
        package var access: String
        /// Of each path, in their order.
        package var accesses: [String]?
        package var purpose: String
        package var pid: Int32?
        package var program: String?
        package var ageSeconds: Double
        /// A claim that is in the way.
        package var waitsFor: UInt64?
        /// Presenters whose answers are missing.
        package var asks: [UInt64]?

        package init(
            id: UInt64, state: String, paths: [WirePath], accesses: [String], purpose: String, pid: Int32?,
            program: String?, ageSeconds: Double, waitsFor: UInt64?, asks: [UInt64]
        ) {
            self.id = id
            self.state = state
            self.paths = paths
            self.access = accesses.first ?? "none"
            self.accesses = accesses
            self.purpose = purpose
            self.pid = pid
            self.program = program
            self.ageSeconds = ageSeconds
            self.waitsFor = waitsFor
            self.asks = asks.isEmpty ? nil : asks
        }
    }

    /// A registered presenter.
    package struct Presenter: Codable, Sendable, Hashable {
        package var id: UInt64
        package var path: WirePath?
        package var purpose: String
        package var pid: Int32?
        package var program: String?
        package var ageSeconds: Double
        /// What it is asked, and for which claim.
        package var question: String?
        package var askedBy: UInt64?
        /// It left a question unanswered, and is passed over until it answers.
        package var hung: Bool

        package init(
            id: UInt64, path: WirePath?, purpose: String, pid: Int32?, program: String?, ageSeconds: Double,
            question: String?, askedBy: UInt64?, hung: Bool
        ) {
            self.id = id
            self.path = path
            self.purpose = purpose
            self.pid = pid
            self.program = program
            self.ageSeconds = ageSeconds
            self.question = question
            self.askedBy = askedBy
            self.hung = hung
        }
    }

    /// One item of a request.
    package struct Access: Codable, Sendable, Hashable {
        package var path: WirePath
        /// `read` or `write`, then options: see Documentation/Protocol.md.
        package var access: String

        package init(path: WirePath, access: String) {
            self.path = path
            self.access = access
        }
    }

    /// Takes a claim; it is held until `coordination.release` or until the connection closes.
    package enum Acquire: WireMethod {
        package static let name = "coordination.acquire"

        package struct Parameters: Codable, Sendable {
            /// The item, where it is one: then `access` is needed as well.
            package var path: WirePath?
            package var access: String?
            /// All items at once, where there are several: granted together or not at all.
            package var accesses: [Access]?
            /// Claims of equal purpose never wait for one another. Nil: the presenter's, or a purpose of its own.
            package var purpose: String?
            /// A presenter of this client that is neither asked nor told.
            package var presenter: UInt64?
            /// How long to wait; nil waits as long as the connection lives.
            package var timeoutSeconds: Double?

            package init(
                _ accesses: [Access], purpose: String? = nil, presenter: UInt64? = nil, timeoutSeconds: Double? = nil
            ) {
                self.accesses = accesses
                self.purpose = purpose
                self.presenter = presenter
                self.timeoutSeconds = timeoutSeconds
            }
        }

        package struct Result: Codable, Sendable {
            package var claim: UInt64
            /// Where the items are now, in the order of the request.
            package var paths: [WirePath]

            package init(claim: UInt64, paths: [WirePath]) {
                self.claim = claim
                self.paths = paths
            }
        }
    }

    /// Asks the presenters of items, and of all below them, ahead of the claims of the same purpose that follow. Ends with
    /// `coordination.release`; gives access to nothing.
    package enum Prepare: WireMethod {
        package static let name = "coordination.prepare"
        package typealias Parameters = Acquire.Parameters
        package typealias Result = Acquire.Result
    }

    /// Says inside a write claim that its item moved. The drive knows of every rename on the mount already; this only
    /// checks that the claim is there.
    package enum DidMove: WireMethod {
        package static let name = "coordination.didMove"

        package struct Parameters: Codable, Sendable {
            package var claim: UInt64
            package var from: WirePath
            package var to: WirePath

            package init(claim: UInt64, from: WirePath, to: WirePath) {
                self.claim = claim
                self.from = from
                self.to = to
            }
        }

        /// Where the items of the claim are now.
        package struct Result: Codable, Sendable {
            package var paths: [WirePath]

            package init(paths: [WirePath]) { self.paths = paths }
        }
    }

    /// Says inside a write claim that ubiquity attributes of its item changed: presenters that observe them are told.
    package enum DidChangeAttributes: WireMethod {
        package static let name = "coordination.didChangeAttributes"

        package struct Parameters: Codable, Sendable {
            package var claim: UInt64
            package var path: WirePath
            package var attributes: [String]

            package init(claim: UInt64, path: WirePath, attributes: [String]) {
                self.claim = claim
                self.path = path
                self.attributes = attributes
            }
        }

        package typealias Result = WireNothing
    }

    /// Gives a claim back.
    package enum Release: WireMethod {
        package static let name = "coordination.release"

        package struct Parameters: Codable, Sendable {
            package var claim: UInt64

            package init(claim: UInt64) { self.claim = claim }
        }

        package typealias Result = WireNothing
    }
}
