/// The methods about conflicts and kept versions.
package enum VersionMethods {
    /// A conflict copy and the document it is a copy of.
    package struct Conflict: Codable, Sendable, Hashable {
        /// The copy.
        package var path: WirePath
        /// The document beside it.
        package var document: WirePath
        /// `YYYY-MM-DD`.
        package var date: String
        package var device: String

        package init(path: WirePath, document: WirePath, date: String, device: String) {
            self.path = path
            self.document = document
            self.date = date
            self.device = device
        }
    }

    /// All conflicts of the drive.
    package enum Conflicts: WireMethod {
        package static let name = "conflicts"
        package typealias Parameters = WireNothing
        package typealias Partial = [Conflict]
        package typealias Result = ItemMethods.Find.Result
    }

    /// Ends a conflict: the versions named are kept, the others go to the kept versions.
    package enum Resolve: WireMethod {
        package static let name = "resolve"

        package struct Parameters: Codable, Sendable {
            /// The document or one of its conflict copies.
            package var path: WirePath
            /// `current`, a device's name, or a copy's file name. When the first is not `current`, it becomes the document.
            package var keep: [String]

            package init(path: WirePath, keep: [String]) {
                self.path = path
                self.keep = keep
            }
        }

        package struct Result: Codable, Sendable {
            /// Copies that were removed (and are among the document's versions now).
            package var removed: [WirePath]
            package var kept: [WirePath]

            package init(removed: [WirePath], kept: [WirePath]) {
                self.removed = removed
                self.kept = kept
            }
        }
    }

    /// A kept version of a document.
    package struct Version: Codable, Sendable, Hashable {
        /// What `restore` takes.
        package var name: String
        package var date: WireTime
        package var size: Int64
        /// The absolute path of its content, outside of the mount; to be read only.
        package var file: String?
        /// What it was kept from, where that was a conflict copy.
        package var copy: WirePath?
        /// True where it may go when room is short.
        package var discardable: Bool?

        package init(
            name: String, date: WireTime, size: Int64, file: String? = nil, copy: WirePath? = nil,
            discardable: Bool? = nil
        ) {
            self.name = name
            self.date = date
            self.size = size
            self.file = file
            self.copy = copy
            self.discardable = discardable
        }
    }

    /// The kept versions of a document, newest first: in parts, and the last of them in the answer.
    package enum Versions: WireMethod {
        package static let name = "versions"
        package typealias Parameters = ItemMethods.Target
        package typealias Partial = [Version]

        package struct Result: Codable, Sendable {
            /// Those that were in no part.
            package var versions: [Version]

            package init(versions: [Version]) { self.versions = versions }
        }
    }

    /// The earlier versions of a document that its provider keeps, newest first; none where it keeps none. Parts as of `Versions`.
    package enum NonlocalVersions: WireMethod {
        package static let name = "version.nonlocal"
        package typealias Parameters = ItemMethods.Target
        package typealias Partial = [Version]
        package typealias Result = Versions.Result
    }

    /// Brings a version that only the provider keeps: it is a kept one from then on, by the same name. One that is here
    /// stays as it is.
    package enum DownloadVersion: WireMethod {
        package static let name = "version.download"
        package typealias Parameters = Target
        package typealias Result = Version
    }

    /// Keeps a file as a version of a document.
    package enum AddVersion: WireMethod {
        package static let name = "version.add"

        package struct Parameters: Codable, Sendable {
            /// The document.
            package var path: WirePath
            /// A file below the home's directory `staging`; used up.
            package var file: WirePath

            package init(path: WirePath, file: WirePath) {
                self.path = path
                self.file = file
            }
        }

        package typealias Result = Version
    }

    /// Lets a kept version go when room is short. There is no way back.
    package enum DiscardVersion: WireMethod {
        package static let name = "version.discard"
        package typealias Parameters = Target
        package typealias Result = WireNothing
    }

    /// Makes a kept version the document's content; what was there becomes a kept version.
    package enum Restore: WireMethod {
        package static let name = "restore"

        package struct Parameters: Codable, Sendable {
            package var path: WirePath
            package var version: String

            package init(path: WirePath, version: String) {
                self.path = path
                self.version = version
            }
        }

        package typealias Result = WireNothing
    }

    /// A version of a document, by its name.
    package struct Target: Codable, Sendable, Hashable {
        /// The document.
        package var path: WirePath
        /// A conflict copy's file name, or a kept version's name.
        package var version: String

        package init(path: WirePath, version: String) {
            self.path = path
            self.version = version
        }
    }

    /// Ends the conflict of one copy: it becomes a kept version of the document.
    package enum ResolveVersion: WireMethod {
        package static let name = "version.resolve"
        package typealias Parameters = Target
        package typealias Result = WireNothing
    }

    /// Removes a version for good: a kept one, or a conflict copy.
    package enum RemoveVersion: WireMethod {
        package static let name = "version.remove"
        package typealias Parameters = Target
        package typealias Result = WireNothing
    }
}
