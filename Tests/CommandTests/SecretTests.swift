import Glibc
import QuireCore
import QuireProviders
import Testing

@testable import QuireMain

@Suite("Secrets")
struct SecretTests {
    /// A program with the arguments and answers of libsecret's.
    private static let program =
        String(#filePath.split(separator: "/").dropLast(2).map { "/\($0)" }.joined())
        + "/EndToEndTests/Programs/secrets/secret-tool"

    /// A home, and a keyring beside it.
    private struct Place {
        let directory: TemporaryDirectory
        let keyring: String
        var service: SecretService

        init() throws {
            directory = try TemporaryDirectory()
            keyring = try directory.make("keyring")
            service = SecretService { [keyring] in $0 == "DBUS_SESSION_BUS_ADDRESS" ? "fake:\(keyring)" : nil }
            service.program = SecretTests.program
        }

        var home: String { directory.path }
        var secrets: ProviderSecrets { ProviderSecrets(home: home, service: service) }
        var attributes: SecretService.Attributes { .init(home: home, provider: "work") }
        func lock() throws { try directory.write("keyring/locked", "") }
        func unlock() { unlink("\(keyring)/locked") }

        func provider(_ place: SetupMethods.SecretPlace?) -> Configuration.Provider {
            Configuration.Provider(
                name: "work", url: "webdav+https://me@h/d", isDefault: false, identity: nil, secretPlace: place)
        }

        /// What the provider is given, or why not.
        func given(_ place: SetupMethods.SecretPlace?) async throws -> String? {
            switch try secrets.source(of: provider(place)) {
            case .known(let secret): return secret
            case .asked(let ask): return try await ask()
            }
        }

        func calls() throws -> String {
            let file = try #require(fopen("\(keyring)/calls", "r"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = fread(&bytes, 1, bytes.count, file)
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }

        var hasFile: Bool { access("\(home)/secrets/work", F_OK) == 0 }
    }

    @Test("A secret goes to the service where one answers, without being an argument, and comes back")
    func service() async throws {
        let place = try Place()
        let kept = try await place.secrets.keep("pass word'\"", of: "work", in: nil)
        #expect(kept == .service && !place.hasFile)
        #expect(try await place.given(.service) == "pass word'\"")
        #expect(try await place.secrets.keep("another", of: "work", in: .service) == .service)
        #expect(try await place.given(.service) == "another")
        let calls = try place.calls()
        #expect(calls.contains("store --label=Quire: work service quire home \(place.home) provider work"))
        #expect(!calls.contains("pass word") && !calls.contains("another"))
    }

    @Test("A secret goes to a file where no service answers, where its program is missing, and where that is wished")
    func file() async throws {
        var place = try Place()
        #expect(try await place.secrets.keep("here", of: "work", in: .file) == .file)
        #expect(try await place.given(nil) == "here")
        place.service.program = "secret-tool-that-is-not-there"
        #expect(try await place.secrets.keep("none", of: "work", in: nil) == .file)
        place.service = SecretService { $0 == "DBUS_SESSION_BUS_ADDRESS" ? "fake:/nonexistent" : nil }
        place.service.program = Self.program
        #expect(!place.service.isAnswering)
        #expect(try await place.secrets.keep("silent", of: "work", in: nil) == .file)
        #expect(try await place.given(.file) == "silent")
        place.service = SecretService { $0 == "XDG_RUNTIME_DIR" ? "/nonexistent" : nil }
        #expect(place.service.bus == nil)
        #expect(try await place.secrets.keep("no bus", of: "work", in: nil) == .file)
    }

    @Test("A locked keyring is told in words, nobody is asked to unlock it, and it is of use once unlocked")
    func locked() async throws {
        let place = try Place()
        _ = try await place.secrets.keep("word", of: "work", in: .service)
        try place.lock()
        do {
            _ = try await place.given(.service)
            Issue.record("a locked keyring gave a secret")
        } catch let error as ProviderError {
            #expect(error.isRetryable && error.message.contains("the keyring that keeps the secret of work is locked"))
        }
        #expect(try !place.calls().contains("lookup"))
        let refused = await #expect(throws: QuireError.self) {
            try await place.secrets.keep("new", of: "work", in: nil)
        }
        #expect(refused?.message.contains("locked collection") == true && refused?.remedy?.contains("file") == true)
        #expect(!place.hasFile)
        place.unlock()
        #expect(try await place.given(.service) == "word")
    }

    @Test("A secret that somebody removed from the keyring is told, with the command that gives it again")
    func gone() async throws {
        let place = try Place()
        do {
            _ = try await place.given(.service)
            Issue.record("nothing gave a secret")
        } catch let error as ProviderError {
            #expect(error.isRetryable && error.message.contains("`quire provider secret work`"))
        }
    }

    @Test("A service that does not answer is given up in time")
    func hanging() throws {
        var place = try Place()
        try place.directory.write("keyring/hangs", "")
        place.service.patience = .milliseconds(200)
        let start = ContinuousClock.now
        #expect(throws: QuireError.self) { try place.service.secret(place.attributes) }
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test("Removing forgets the secret; one in a locked keyring is told of, as it stays")
    func removing() async throws {
        let place = try Place()
        _ = try await place.secrets.keep("word", of: "work", in: .service)
        try place.lock()
        await #expect(throws: QuireError.self) { try await place.secrets.remove(of: "work", in: .service) }
        place.unlock()
        try await place.secrets.remove(of: "work", in: .service)
        await #expect(throws: ProviderError.self) { try await place.given(.service) }
        try await place.secrets.remove(of: "work", in: .service)
        _ = try await place.secrets.keep("word", of: "work", in: .file)
        try await place.secrets.remove(of: "work", in: nil)
        #expect(!place.hasFile)
    }

    @Test("What is no line of text is no secret", arguments: ["", "a\nb", String(repeating: "x", count: 8192)])
    func refused(secret: String) async throws {
        let place = try Place()
        await #expect(throws: QuireError.self) { try await place.secrets.keep(secret, of: "work", in: .service) }
    }

    @Test("The configuration says who keeps a secret, and refuses what it does not know")
    func configuration() throws {
        var configuration = Configuration.new(home: "/h", deviceName: "d", deviceID: "0")
        try configuration.add(try Place().provider(.service))
        let text = ConfigurationWriter.text(configuration)
        #expect(try ConfigurationReader.read(text, file: "c").configuration == configuration)
        let wrong = text.replacing("secret = \"service\"", with: "secret = \"here\"")
        #expect(throws: QuireError.self) { try ConfigurationReader.read(wrong, file: "c") }
    }
}
