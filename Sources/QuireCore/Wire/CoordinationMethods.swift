/// The methods about coordinated access.
package enum CoordinationMethods {
    /// Who holds and who waits.
    package enum Dump: WireMethod {
        package static let name = "coordination"
        package typealias Parameters = WireNothing

        package struct Result: Codable, Sendable {
            package var claims: [Claim]

            package init(claims: [Claim]) { self.claims = claims }
        }
    }

    /// A claim that is held or waited for.
    package struct Claim: Codable, Sendable, Hashable {
        package var id: UInt64
        /// `held` or `waiting`.
        package var state: String
        package var paths: [WirePath]
        /// `read`, `write`, `write forDeleting` and so on.
        package var access: String
        package var purpose: String
        package var pid: Int32?
        package var ageSeconds: Double

        package init(
            id: UInt64, state: String, paths: [WirePath], access: String, purpose: String, pid: Int32?,
            ageSeconds: Double
        ) {
            self.id = id
            self.state = state
            self.paths = paths
            self.access = access
            self.purpose = purpose
            self.pid = pid
            self.ageSeconds = ageSeconds
        }
    }

    /// Takes a claim; it is held until `coordination.release` or until the connection closes.
    package enum Acquire: WireMethod {
        package static let name = "coordination.acquire"

        package struct Parameters: Codable, Sendable {
            package var path: WirePath
            /// `read`, `write`, `write forDeleting`, `write forMoving`, `write forReplacing`, `write forMerging`.
            package var access: String
            /// Claims of equal purpose never wait for one another. Nil: a purpose of its own.
            package var purpose: String?
            /// How long to wait; nil waits as long as the connection lives.
            package var timeoutSeconds: Double?

            package init(path: WirePath, access: String, purpose: String?, timeoutSeconds: Double?) {
                self.path = path
                self.access = access
                self.purpose = purpose
                self.timeoutSeconds = timeoutSeconds
            }
        }

        package struct Result: Codable, Sendable {
            package var claim: UInt64

            package init(claim: UInt64) { self.claim = claim }
        }
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
