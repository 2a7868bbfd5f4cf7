import ArgumentParser
import QuireCommandLine
import QuireCore
import QuireProviders

struct Provider: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider", abstract: "Add, list, renew, reset and remove providers.",
        discussion: "A provider keeps documents beyond this device. Works with the daemon stopped, too.",
        subcommands: [Add.self, List.self, Secret.self, Reset.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a provider.",
            discussion: """
                URL is folder:/absolute/path, webdav+https://user@host/path (webdav+http without encryption) or \
                s3+https://ACCESSKEY@host/bucket/prefix?region=eu-1 (style=virtual for the bucket in the host's name; without an \
                access key, that of the environment or of profile= in ~/.aws/credentials); pin=SHA256 names the only certificate \
                to accept. A password or secret key is asked for, or taken from QUIRE_SECRET; at a WebDAV server without a user \
                it is a bearer token. The user's Secret Service keeps it where one answers, else a file in the home \
                (--secret-in chooses). The account is tried, and what it can do is told. Makes the home where there is none yet. \
                With --default the provider keeps the drive from then on.
                """)

        @OptionGroup var home: HomeOptions

        @Argument(help: "The provider's name: letters, digits, `-` and `_`.")
        var name: String

        @Argument(help: "Where it keeps documents.")
        var url: String

        @Flag(name: .customLong("default"), help: "It keeps the default container.")
        var isDefault = false

        @Option(help: "Who keeps the secret: file (in the home, mode 0600) or service (the Secret Service).")
        var secretIn: SetupMethods.SecretPlace?

        @Flag(help: "Add it even if two devices could overwrite each other's changes there.")
        var acceptLossy = false

        func run() async throws {
            let secret = url.hasPrefix("folder:") ? nil : try SecretPrompt.secret(for: QuireProviders.ProviderURL(url))
            let drive = try await DriveSession.daemonOrStopped(home)
            let provider = SetupMethods.ProviderAdd.Parameters(
                name: name, url: url, isDefault: isDefault, secret: secret, secretPlace: secretIn,
                acceptsLossy: acceptLossy)
            let outcome = try await drive.caller.call(SetupMethods.ProviderAdd.self, provider)
            for message in outcome.messages { Output.message(message) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List providers.",
            discussion: "Name and URL of each; the default one is marked.")

        @OptionGroup var home: HomeOptions

        @Flag(help: "Print JSON, one object a line.")
        var json = false

        func run() async throws {
            let drive = try await DriveSession.daemonOrStopped(home)
            for provider in try await drive.caller.call(SetupMethods.ProviderList.self).providers {
                if json {
                    try Output.json(provider)
                } else {
                    Output.line("\(provider.name)  \(provider.url)\(provider.isDefault ? "  (default)" : "")")
                }
            }
        }
    }

    struct Secret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "secret", abstract: "Give a provider's new password, secret key or token.",
            discussion: """
                It is asked for, or taken from QUIRE_SECRET, and tried: one that the server refuses, or that leads to another \
                store than the drive's, changes nothing. A mounted drive uses it at once. It is kept where the former one was; \
                --secret-in chooses another place. Where an object store's access key was changed as well, --access-key names \
                the new one, which the provider's URL has from then on.
                """)

        @OptionGroup var home: HomeOptions

        @Argument(help: "The provider's name.")
        var name: String

        @Option(help: "Who keeps the secret: file (in the home, mode 0600) or service (the Secret Service).")
        var secretIn: SetupMethods.SecretPlace?

        @Option(help: ArgumentHelp("The object store's access key that the secret key belongs to.", valueName: "key"))
        var accessKey: String?

        func run() async throws {
            let drive = try await DriveSession.daemonOrStopped(home)
            let providers = try await drive.caller.call(SetupMethods.ProviderList.self).providers
            guard let provider = providers.first(where: { $0.name == name }) else {
                throw QuireError.noProvider(named: name)
            }
            var url = try QuireProviders.ProviderURL(provider.url)
            try SecretRenewal.requireSecret(of: name, url)
            if let accessKey { url = try url.withAccessKey(accessKey) }
            guard let secret = try SecretPrompt.secret(for: url) else {
                throw QuireError(
                    .usage, "no secret was given for \(name)", remedy: "Give it in QUIRE_SECRET, or at a terminal")
            }
            let outcome = try await drive.caller.call(
                SetupMethods.ProviderSecret.self,
                SetupMethods.ProviderSecret.Parameters(
                    name: name, secret: secret, secretPlace: secretIn, accessKey: accessKey))
            for message in outcome.messages { Output.message(message) }
        }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset", abstract: "Use a provider's store that was begun anew.",
            discussion: """
                Where another store is found at a provider's URL than before (the server's disk was replaced, a bucket emptied), \
                nothing is sent or brought until the former one is there again. Where that is gone for good, this has the present \
                one used: what is here is uploaded, and what is there comes. Nothing is deleted. Placeholders whose content is not \
                there stay, with an error. Without --confirm it only tells what would happen to how much.
                """)

        @OptionGroup var home: HomeOptions

        @Argument(help: "The provider's name.")
        var name: String

        @Flag(help: "Do it.")
        var confirm = false

        func run() async throws {
            let drive = try await DriveSession.daemonOrStopped(home)
            let outcome = try await drive.caller.call(
                SetupMethods.ProviderReset.self,
                SetupMethods.ProviderReset.Parameters(name: name, isConfirmed: confirm ? true : nil))
            for message in outcome.messages { Output.message(message) }
            if !confirm { throw ExitCode(QuireError.Code.usage.exitCode) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a provider that keeps nothing.",
            discussion:
                "The default provider, and one that keeps a container, is not removed. What it stores stays; its secret goes."
        )

        @OptionGroup var home: HomeOptions

        @Argument(help: "The provider's name.")
        var name: String

        func run() async throws {
            let drive = try await DriveSession.daemonOrStopped(home)
            let outcome = try await drive.caller.call(
                SetupMethods.ProviderRemove.self, SetupMethods.ProviderRemove.Parameters(name: name))
            for message in outcome.messages { Output.message(message) }
        }
    }
}

extension SetupMethods.SecretPlace: ExpressibleByArgument {}

struct Container: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container", abstract: "Create and list containers.",
        discussion: """
            A container is a top-level directory of the drive with an id of its own, which may have its own provider. Works with \
            the daemon stopped, too.
            """,
        subcommands: [Create.self, List.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create a container.",
            discussion: "Its directory appears on the drive, its Data scope in the home's data/ directory.")

        @OptionGroup var home: HomeOptions

        @Argument(help: "Reverse DNS, as iCloud.com.example.Notes.")
        var id: String

        @Option(help: "The directory's name. Default: the last part of the id.")
        var name: String?

        @Option(help: "The provider that keeps it, and nothing else. Default: the drive's, as an ordinary directory.")
        var provider: String?

        @Flag(name: .customLong("public"), help: "Its documents are shown in document pickers.")
        var isPublic = false

        func run() async throws {
            guard let identifier = ContainerID(id) else {
                throw QuireError(
                    .usage, "\"\(id)\" is not a container's id",
                    remedy: "Use letters, digits, `-`, `_` and dots between them: iCloud.com.example.Notes")
            }
            let drive = try await DriveSession.daemonOrStopped(home)
            let name = name ?? id.split(separator: ".").last.map(String.init) ?? id
            let container = SetupMethods.Container(
                id: identifier, name: name, provider: provider, isPublic: isPublic)
            let outcome = try await drive.caller.call(SetupMethods.ContainerCreate.self, container)
            for message in outcome.messages { Output.message(message) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List containers.",
            discussion: "Id, directory, provider, and whether it is public.")

        @OptionGroup var home: HomeOptions

        @Flag(help: "Print JSON, one object a line.")
        var json = false

        func run() async throws {
            let drive = try await DriveSession.daemonOrStopped(home)
            for container in try await drive.caller.call(SetupMethods.ContainerList.self).containers {
                if json {
                    try Output.json(container)
                } else {
                    let place = container.name.isEmpty ? "." : container.name
                    let provider = container.provider ?? "(with the drive)"
                    Output.line("\(container.id)  \(place)  \(provider)\(container.isPublic ? "  public" : "")")
                }
            }
        }
    }
}
