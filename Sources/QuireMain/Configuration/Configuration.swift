import QuireCore
import QuireSync

/// What `config.toml` says: the drive, its providers and containers, and its limits.
struct Configuration: Sendable, Equatable {
    /// The newest format this version reads, and the one it writes.
    static let format = 1

    struct Provider: Sendable, Equatable {
        var name: String
        var url: String
        var isDefault: Bool
        /// The identity its storage had when it was first connected; another one is refused.
        var identity: String?
        /// Who keeps its secret; nil: a file of the home, or there is none.
        var secretPlace: SetupMethods.SecretPlace?
        /// Whether it is used though two devices could overwrite each other's changes there.
        var acceptsLossy = false
    }

    struct Container: Sendable, Equatable {
        var id: ContainerID
        /// Of its directory on the drive.
        var name: FileName
        /// Nil: an ordinary directory of the default container.
        var provider: String?
        var isPublic: Bool
    }

    /// Drawn at random when the home is made.
    var deviceID: String
    /// What others see in the names of conflict copies.
    var deviceName: String
    /// How often providers are asked for changes: 1 … 86,400.
    var pollSeconds = 15
    /// How often everything at a server is listed anew; 0: so that it takes a twentieth of the time.
    var listSeconds = 0
    /// How long a document is left alone after a change before it is uploaded: 0 … 3,600,000.
    var settleMilliseconds = 300
    /// Transfers at one time: 1 … 64.
    var parallel = 8
    /// Most that goes to providers, and comes from them, in bytes a second; nil for as fast as can be.
    var uploadLimit: ByteCount?
    var downloadLimit: ByteCount?
    /// How long an operation on the mount waits for a claim: 1 … 3,600.
    var deadlineSeconds = 10
    /// Extensions of directories that are one document.
    var packageExtensions = PackageNames.standardExtensions
    /// How much room content may take here.
    var cache = SpaceLimits()
    var thumbnails = ThumbnailSettings()
    var content = ContentSettings()
    var ephemeralPatterns = EphemeralNames.standardPatterns
    var providers: [Provider] = []
    var containers: [Container] = []

    /// The provider of the default container.
    var defaultProvider: Provider? { providers.first(where: \.isDefault) ?? providers.first }

    func provider(named name: String) -> Provider? { providers.first { $0.name == name } }

    /// The container that the directory at the drive's root with this name is, if it is one.
    func container(directory: FileName) -> Container? { containers.first { $0.name == directory } }
}

extension Configuration.Provider {
    /// For who wants to add it once more, at the end of a remedy: how it is given a new secret, where it has one.
    var renewal: String { url.hasPrefix("folder:") ? "" : "; a new secret goes to `quire provider secret \(name)`" }
}

extension Configuration {
    /// The configuration of a new home: this device, and the embedded folder provider.
    static func new(home: String, deviceName: String, deviceID: String) -> Configuration {
        let embedded = Provider(name: "embedded", url: "folder:\(home)/provider", isDefault: true, identity: nil)
        return Configuration(deviceID: deviceID, deviceName: deviceName, providers: [embedded])
    }

    /// Adds a provider; the first, and one added as default, becomes the default.
    mutating func add(_ provider: Provider) throws(QuireError) {
        guard Self.isName(provider.name) else {
            throw QuireError(
                .usage, "\"\(provider.name)\" cannot be a provider's name",
                remedy: "Use letters, digits, `-` and `_`, at most 60")
        }
        if let former = self.provider(named: provider.name) {
            throw QuireError(
                .usage, "a provider named \(provider.name) exists already",
                remedy: "Choose another name, or remove it first with `quire provider remove \(provider.name)`"
                    + former.renewal)
        }
        var provider = provider
        provider.isDefault = provider.isDefault || providers.isEmpty
        if provider.isDefault {
            for index in providers.indices { providers[index].isDefault = false }
        }
        providers.append(provider)
    }

    /// Removes a provider that nothing is bound to.
    mutating func removeProvider(named name: String) throws(QuireError) {
        guard let provider = provider(named: name) else { throw .noProvider(named: name) }
        guard provider.name != defaultProvider?.name else {
            throw QuireError(
                .usage, "\(name) keeps the drive's default container",
                remedy: "Add another with `quire provider add NAME URL --default` first")
        }
        if let container = containers.first(where: { $0.provider == name }) {
            throw QuireError(
                .usage, "\(name) keeps the container \(container.id)",
                remedy: "A container's provider cannot be removed")
        }
        providers.removeAll { $0.name == name }
    }

    /// Adds a container.
    mutating func add(_ container: Container) throws(QuireError) {
        guard container.id != .default, !containers.contains(where: { $0.id == container.id }) else {
            throw QuireError(
                .usage, "the container \(container.id) exists already", remedy: "See `quire container list`")
        }
        guard self.container(directory: container.name) == nil else {
            throw QuireError(
                .usage, "a container named \(container.name) exists already", remedy: "Choose another with --name")
        }
        if let name = container.provider {
            guard provider(named: name) != nil else { throw .noProvider(named: name) }
            guard name != defaultProvider?.name else {
                throw QuireError(
                    .usage, "\(name) keeps the default container already",
                    remedy: "Leave --provider away: the container is then a directory there")
            }
            if let other = containers.first(where: { $0.provider == name }) {
                throw QuireError(
                    .usage, "\(name) keeps the container \(other.id) already",
                    remedy: "Give each container its own provider")
            }
        }
        containers.append(container)
    }

    /// Letters, digits, `-`, `_`; 1 to 60.
    static func isName(_ text: String) -> Bool {
        (1...60).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || $0.properties.numericType != nil
                        || "-_".unicodeScalars.contains($0))
            }
    }
}

extension QuireError {
    static func noProvider(named name: String) -> QuireError {
        QuireError(.notFound, "no provider is named \(name)", remedy: "See `quire provider list`")
    }
}
