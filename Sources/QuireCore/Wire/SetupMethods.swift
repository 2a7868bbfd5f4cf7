/// The methods that change which providers and containers the drive has.
package enum SetupMethods {
    /// A provider of the configuration.
    package struct Provider: Codable, Sendable, Hashable {
        package var name: String
        package var url: String
        /// Keeps the default container, and every container that names no other.
        package var isDefault: Bool

        package init(name: String, url: String, isDefault: Bool) {
            self.name = name
            self.url = url
            self.isDefault = isDefault
        }
    }

    /// A container of the configuration.
    package struct Container: Codable, Sendable, Hashable {
        package var id: ContainerID
        /// The name of its directory on the drive; empty for the default container, which is the drive's root.
        package var name: String
        /// Nil: kept by the default provider as an ordinary directory of the default container.
        package var provider: String?
        package var isPublic: Bool

        package init(id: ContainerID, name: String, provider: String?, isPublic: Bool) {
            self.id = id
            self.name = name
            self.provider = provider
            self.isPublic = isPublic
        }
    }

    /// Who keeps a provider's secret.
    package enum SecretPlace: String, Codable, Sendable, CaseIterable {
        /// A file of the home, which its owner only may read.
        case file
        /// The user's Secret Service.
        case service
    }

    /// What a change of the configuration has to say.
    package struct Outcome: Codable, Sendable {
        /// One sentence each.
        package var messages: [String]

        package init(messages: [String] = []) { self.messages = messages }
    }

    package enum ProviderAdd: WireMethod {
        package static let name = "provider.add"

        package struct Parameters: Codable, Sendable {
            package var name: String
            package var url: String
            package var isDefault: Bool
            /// A password or token; nil where none is needed. In no answer and no log.
            package var secret: String?
            /// Who is to keep it; nil: the Secret Service where one answers, else a file.
            package var secretPlace: SecretPlace?
            /// A provider that may lose an update is added all the same.
            package var acceptsLossy: Bool?

            package init(
                name: String, url: String, isDefault: Bool, secret: String? = nil, secretPlace: SecretPlace? = nil,
                acceptsLossy: Bool? = nil
            ) {
                self.name = name
                self.url = url
                self.isDefault = isDefault
                self.secret = secret
                self.secretPlace = secretPlace
                self.acceptsLossy = acceptsLossy
            }
        }

        package typealias Result = Outcome
    }

    package enum ProviderList: WireMethod {
        package static let name = "provider.list"
        package typealias Parameters = WireNothing

        package struct Result: Codable, Sendable {
            package var providers: [Provider]

            package init(providers: [Provider]) { self.providers = providers }
        }
    }

    package enum ProviderRemove: WireMethod {
        package static let name = "provider.remove"

        package struct Parameters: Codable, Sendable {
            package var name: String

            package init(name: String) { self.name = name }
        }

        package typealias Result = Outcome
    }

    /// Has whatever store is found at a provider's URL used from now on, in place of the one that was there.
    package enum ProviderReset: WireMethod {
        package static let name = "provider.reset"

        package struct Parameters: Codable, Sendable {
            package var name: String
            /// Without it nothing is done but telling what would be.
            package var isConfirmed: Bool?

            package init(name: String, isConfirmed: Bool?) {
                self.name = name
                self.isConfirmed = isConfirmed
            }
        }

        package typealias Result = Outcome
    }

    /// Has another secret used for a provider from now on, once it was tried. One that is refused changes nothing.
    package enum ProviderSecret: WireMethod {
        package static let name = "provider.secret"

        package struct Parameters: Codable, Sendable {
            package var name: String
            /// A password or token. In no answer and no log.
            package var secret: String
            /// Who is to keep it; nil: who kept the former one.
            package var secretPlace: SecretPlace?
            /// The access key that it belongs to at an object store; nil: the one in the provider's URL.
            package var accessKey: String?

            package init(name: String, secret: String, secretPlace: SecretPlace? = nil, accessKey: String? = nil) {
                self.name = name
                self.secret = secret
                self.secretPlace = secretPlace
                self.accessKey = accessKey
            }
        }

        package typealias Result = Outcome
    }

    /// How fast content goes to providers and comes from them; the answer says how fast it does from then on.
    package enum Limit: WireMethod {
        package static let name = "limit"

        package struct Parameters: Codable, Sendable {
            /// In bytes a second; 0 for no limit, nil for as it was.
            package var up: Int64?
            package var down: Int64?

            package init(up: Int64?, down: Int64?) {
                self.up = up
                self.down = down
            }
        }

        package struct Result: Codable, Sendable {
            /// In bytes a second; missing where there is no limit.
            package var up: Int64?
            package var down: Int64?

            package init(up: Int64?, down: Int64?) {
                self.up = up
                self.down = down
            }
        }
    }

    package enum ContainerCreate: WireMethod {
        package static let name = "container.create"
        package typealias Parameters = Container
        package typealias Result = Outcome
    }

    package enum ContainerList: WireMethod {
        package static let name = "container.list"
        package typealias Parameters = WireNothing

        package struct Result: Codable, Sendable {
            package var containers: [Container]

            package init(containers: [Container]) { self.containers = containers }
        }
    }
}
