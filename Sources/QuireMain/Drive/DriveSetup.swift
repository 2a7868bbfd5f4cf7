import Glibc
import QuireCore
import QuireProviders
import QuireStore

/// The drive's configuration, and what changes it. Used by the daemon, and by subcommands when none runs.
///
/// Callers hold the home's lock, so that changes do not meet.
struct DriveSetup: Sendable {
    let location: HomeLocation
    /// The type of the filesystem that a folder is on (`linux/magic.h`); nil where that cannot be told.
    var filesystem: @Sendable (_ folder: String) -> Int? = { FolderLock.filesystem(at: $0) }

    /// The configuration; a new home's where there is no drive yet, which is written.
    ///
    /// - Throws: as `HomeLocation.readConfiguration`.
    func openOrCreate() throws(QuireError) -> ConfigurationReader.Reading {
        if let reading = try location.readConfiguration() { return reading }
        let configuration = Configuration.new(
            home: location.home, deviceName: Self.hostName, deviceID: Self.randomIdentifier())
        try location.configuration.write(configuration)
        return ConfigurationReader.Reading(configuration: configuration, unknownKeys: [])
    }

    func providers(_ configuration: Configuration) -> [SetupMethods.Provider] {
        configuration.providers.map { provider in
            SetupMethods.Provider(
                name: provider.name, url: provider.url, isDefault: provider.name == configuration.defaultProvider?.name)
        }
    }

    func containers(_ configuration: Configuration) -> [SetupMethods.Container] {
        let root = SetupMethods.Container(
            id: .default, name: "", provider: configuration.defaultProvider?.name, isPublic: true)
        return [root]
            + configuration.containers.map { container in
                SetupMethods.Container(
                    id: container.id, name: container.name.description, provider: container.provider,
                    isPublic: container.isPublic)
            }
    }

    private var secrets: ProviderSecrets { ProviderSecrets(home: location.home) }

    /// Whether the provider could be added, before it is tried; its URL.
    func check(_ provider: SetupMethods.Provider) throws(QuireError) -> QuireProviders.ProviderURL {
        let url = try ProviderURL.checked(provider.url, location: location)
        var configuration = try location.configuration.read()?.configuration
        if configuration != nil { try configuration?.add(provider, url: url) }
        return try QuireProviders.ProviderURL(url)
    }

    /// Adds a provider and returns the new configuration with what there is to say.
    ///
    /// - Parameters:
    ///   - secret: kept for the provider, nil for none.
    ///   - place: as for `ProviderSecrets.keep`.
    ///   - identity: what the store that is meant calls itself; nil for whatever is there when it is first connected.
    ///   - acceptsLossy: whether it is used where two devices could overwrite each other's changes.
    func add(
        _ provider: SetupMethods.Provider, secret: String? = nil, in place: SetupMethods.SecretPlace? = nil,
        identity: String? = nil, acceptsLossy: Bool = false
    ) async throws(QuireError) -> (configuration: Configuration, messages: [String]) {
        let url = try ProviderURL.checked(provider.url, location: location)
        // What is kept for another of this name stays as it is.
        _ = try check(provider)
        // Whatever is at the URL now is meant.
        let stores = KnownStores(home: location.home)
        if let identity { try stores.note(identity, at: url) } else { try stores.forget(url) }
        var kept: SetupMethods.SecretPlace?
        if let secret { kept = try await secrets.keep(secret, of: provider.name, in: place) }
        let configuration = try await takingBack(kept, of: provider.name) { () throws(QuireError) in
            try location.configuration.update { [kept] configuration throws(QuireError) in
                try configuration.add(
                    provider, url: url, secretPlace: kept == .service ? kept : nil, acceptsLossy: acceptsLossy)
            }
        }
        var messages: [String] = []
        if kept == .service {
            messages.append(
                "the Secret Service keeps the secret: while that is locked, changes wait on this device "
                    + "(--secret-in file keeps it in the home instead)")
        }
        if let folder = ProviderURL.folder(url) { messages += words(folder) }
        return (configuration, messages)
    }

    /// What there is to say of a folder that documents are to be kept in.
    private func words(_ folder: String) -> [String] {
        guard access(folder, F_OK) == 0 else {
            return ["the folder \(folder) is not there yet; until it is, changes wait on this device"]
        }
        guard let filesystem = filesystem(folder), FolderLock.mayBeOfThisMachineOnly(on: filesystem) else { return [] }
        return [
            "the folder \(folder) is on FUSE, as sshfs is: its lock may be of this machine only, and what other machines write "
                + "meanwhile may be overwritten"
        ]
    }

    /// Keeps another secret for a provider than before.
    ///
    /// - Returns: what there is to say.
    func keep(_ change: SecretRenewal.Change) async throws(QuireError) -> [String] {
        let name = change.provider
        let former = try location.configuration.read()?.configuration.provider(named: name)?.secretPlace ?? .file
        let place = try await secrets.keep(change.secret, of: name, in: change.place)
        guard place != former || change.url != nil else { return [] }
        // One that took the place of the former one is not taken back: that is gone.
        _ = try await takingBack(place == former ? nil : place, of: name) { () throws(QuireError) in
            try location.configuration.update { configuration throws(QuireError) in
                guard configuration.provider(named: name) != nil else { throw .noProvider(named: name) }
                configuration.setSecretPlace(place, of: name)
                if let url = change.url { configuration.setURL(url, of: name) }
            }
        }
        guard place != former else { return [] }
        // The new one is in use by now.
        do throws(QuireError) { try await secrets.remove(of: name, in: former) } catch { return [error.description] }
        return []
    }

    /// Runs `body`, and forgets the secret that was just kept when that fails.
    private func takingBack(
        _ place: SetupMethods.SecretPlace?, of name: String, _ body: () throws(QuireError) -> Configuration
    ) async throws(QuireError) -> Configuration {
        do {
            return try body()
        } catch {
            guard let place else { throw error }
            do throws(QuireError) {
                try await secrets.remove(of: name, in: place)
            } catch let left {
                throw QuireError(error.code, "\(error.message); \(left.message)", remedy: left.remedy)
            }
            throw error
        }
    }

    func removeProvider(named name: String) async throws(QuireError) -> Configuration {
        let place = try location.configuration.read()?.configuration.provider(named: name)?.secretPlace
        let configuration = try location.configuration.update { configuration throws(QuireError) in
            try configuration.removeProvider(named: name)
        }
        try await secrets.remove(of: name, in: place)
        return configuration
    }

    /// What the configuration would be with a container.
    func check(_ container: SetupMethods.Container) throws(QuireError) -> Configuration {
        let added = try Self.container(container)
        return try location.configuration.changed { configuration throws(QuireError) in
            try configuration.add(added)
        }.configuration
    }

    /// Adds a container to the configuration and makes its Data scope; its directory on the drive is the caller's to make.
    func add(_ container: SetupMethods.Container) throws(QuireError) {
        let added = try Self.container(container)
        _ = try check(container)
        try makeDataScope(of: container.id)
        _ = try location.configuration.update { configuration throws(QuireError) in try configuration.add(added) }
    }

    private static func container(
        _ container: SetupMethods.Container
    ) throws(QuireError) -> Configuration.Container {
        guard let name = FileName(container.name), name.bytes.count <= 255 else {
            throw QuireError(
                .usage, "\"\(container.name)\" cannot be a directory's name", remedy: "Choose another with --name")
        }
        return Configuration.Container(
            id: container.id, name: name, provider: container.provider, isPublic: container.isPublic)
    }

    /// The container's directory for what is not shown on the drive.
    func makeDataScope(of container: ContainerID) throws(QuireError) {
        do {
            try DriveHome(path: location.home).createDataDirectory(container)
        } catch {
            throw QuireError(error)
        }
    }

    private static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "device" }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return name.isEmpty ? "device" : name
    }

    /// 128 random bits in hexadecimal.
    private static func randomIdentifier() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension Configuration {
    /// Notes who keeps a provider's secret.
    mutating func setSecretPlace(_ place: SetupMethods.SecretPlace, of name: String) {
        for index in providers.indices where providers[index].name == name {
            providers[index].secretPlace = place == .service ? place : nil
        }
    }

    /// Has a provider be found at another URL.
    mutating func setURL(_ url: String, of name: String) {
        for index in providers.indices where providers[index].name == name { providers[index].url = url }
    }

    /// Adds a provider at a URL where none is yet.
    fileprivate mutating func add(
        _ provider: SetupMethods.Provider, url: String, secretPlace: SetupMethods.SecretPlace? = nil,
        acceptsLossy: Bool = false
    ) throws(QuireError) {
        if let other = providers.first(where: { $0.url == url }) {
            throw QuireError(
                .usage, "\(other.name) keeps documents at \(url) already",
                remedy: "Choose another folder or account" + other.renewal)
        }
        try add(
            Provider(
                name: provider.name, url: url, isDefault: provider.isDefault, identity: nil, secretPlace: secretPlace,
                acceptsLossy: acceptsLossy))
    }
}
