/// The methods about the drive as a whole.
package enum DriveMethods {
    /// Who answers: version, protocol number, process id, mountpoint.
    package enum Hello: WireMethod {
        package static let name = "hello"
        package typealias Parameters = WireNothing

        package struct Result: Codable, Sendable {
            package var version: String
            /// Raised by one when a message changes so that older clients fail.
            package var protocolVersion: Int
            package var pid: Int32
            /// Where the drive is mounted.
            package var mountpoint: String
            /// What a person should know of the start, one sentence each.
            package var notes: [String]
            /// Set once the daemon is about to end: the drive goes.
            package var stopping: Bool?

            package init(
                version: String, protocolVersion: Int, pid: Int32, mountpoint: String, notes: [String] = [],
                stopping: Bool? = nil
            ) {
                self.version = version
                self.protocolVersion = protocolVersion
                self.pid = pid
                self.mountpoint = mountpoint
                self.notes = notes
                self.stopping = stopping
            }
        }
    }

    /// How the drive stands.
    package enum Status: WireMethod {
        package static let name = "status"
        package typealias Parameters = WireNothing
        package typealias Result = DriveStatus
    }

    /// What the driver does and has done since the mount.
    package enum Driver: WireMethod {
        package static let name = "driverStatus"
        package typealias Parameters = WireNothing
        package typealias Result = DriverStatus
    }

    /// Pushes and pulls until nothing is pending, nothing more can be done, or time is up.
    package enum Sync: WireMethod {
        package static let name = "sync"

        package struct Parameters: Codable, Sendable {
            /// Nil waits as long as it takes.
            package var timeoutSeconds: Double?
            /// Carry out the deletions that are held back now, because so much is missing at once.
            package var confirmDeletes: Bool?
            /// Send parts that say how far it is, about twice a second.
            package var progress: Bool?

            package init(timeoutSeconds: Double?, confirmDeletes: Bool?, progress: Bool? = nil) {
                self.timeoutSeconds = timeoutSeconds
                self.confirmDeletes = confirmDeletes
                self.progress = progress
            }
        }

        /// How far it is, counted from its beginning.
        package struct Partial: Codable, Sendable, Hashable {
            package var filesDone: Int
            /// Grows when programs go on writing.
            package var filesTotal: Int
            package var bytesDone: Int64
            package var bytesTotal: Int64
            /// Of the last seconds.
            package var bytesPerSecond: Int64
            /// Missing where nobody can tell.
            package var secondsLeft: Int?

            package init(
                filesDone: Int, filesTotal: Int, bytesDone: Int64, bytesTotal: Int64, bytesPerSecond: Int64,
                secondsLeft: Int?
            ) {
                self.filesDone = filesDone
                self.filesTotal = filesTotal
                self.bytesDone = bytesDone
                self.bytesTotal = bytesTotal
                self.bytesPerSecond = bytesPerSecond
                self.secondsLeft = secondsLeft
            }
        }

        package typealias Result = SyncReport
    }

    /// Sends nothing and fetches only what is opened, for a while or until `resume`.
    package enum Pause: WireMethod {
        package static let name = "pause"

        package struct Parameters: Codable, Sendable {
            /// For how long; nil until `resume`.
            package var seconds: Double?

            package init(seconds: Double?) { self.seconds = seconds }
        }

        package typealias Result = DriveStatus.Pause
    }

    /// Goes on after `pause`; nothing happens where there is none.
    package enum Resume: WireMethod {
        package static let name = "resume"
        package typealias Parameters = WireNothing
        package typealias Result = WireNothing
    }

    /// Unmounts, finishes index work and ends the daemon. The answer comes before the unmount; the connection closes when
    /// the daemon is gone.
    package enum Shutdown: WireMethod {
        package static let name = "shutdown"
        package typealias Parameters = WireNothing

        package struct Result: Codable, Sendable {
            /// What is not yet uploaded.
            package var pending: PendingCounts
            /// Why that may be more, as the end of a sentence; missing where it is not.
            package var doubt: String?

            package init(pending: PendingCounts, doubt: String? = nil) {
                self.pending = pending
                self.doubt = doubt
            }
        }
    }

    /// Compares store, index and, when asked, provider.
    package enum Check: WireMethod {
        package static let name = "check"

        package struct Parameters: Codable, Sendable {
            /// Mend what can be mended without losing anything.
            package var repair: Bool
            /// Compare with the provider's listing, too.
            package var provider: Bool

            package init(repair: Bool, provider: Bool) {
                self.repair = repair
                self.provider = provider
            }
        }

        package typealias Partial = [CheckDifference]

        package struct Result: Codable, Sendable {
            /// Items that were compared.
            package var items: Int
            package var differences: Int
            /// Of those, how many were mended.
            package var repaired: Int

            package init(items: Int, differences: Int, repaired: Int) {
                self.items = items
                self.differences = differences
                self.repaired = repaired
            }
        }
    }
}

/// One thing that `check` found.
package struct CheckDifference: Codable, Sendable, Hashable {
    /// Which two disagree.
    package enum Kind: String, Codable, Sendable {
        case store, provider
    }

    package var path: WirePath
    package var kind: Kind
    package var message: String
    package var repaired: Bool

    package init(path: WirePath, kind: Kind, message: String, repaired: Bool) {
        self.path = path
        self.kind = kind
        self.message = message
        self.repaired = repaired
    }
}
