import Glibc
import QuireCore
import QuireSync
import Testing

@testable import QuireMain

@Suite("Configuration")
struct ConfigurationTests {
    private static let file = "/h/config.toml"

    private func read(_ text: String) throws(QuireError) -> ConfigurationReader.Reading {
        try ConfigurationReader.read(text, file: Self.file)
    }

    private func refusal(_ text: String) -> String {
        do {
            _ = try read(text)
            return "accepted"
        } catch {
            return error.message
        }
    }

    private static let smallest = """
        format = 1
        [drive]
        device_id = "d"
        device_name = "n"
        [[provider]]
        name = "p"
        url = "folder:/p"
        """

    @Test("What is written is read back equal")
    func roundTrip() throws {
        var configuration = Configuration.new(home: "/h", deviceName: "a \"b\" \\ \n é", deviceID: "0123")
        configuration.pollSeconds = 3
        configuration.listSeconds = 60
        configuration.ephemeralPatterns = ["*~", "#*#", "a'b"]
        configuration.packageExtensions = ["song"]
        configuration.thumbnails = ThumbnailSettings(makes: false, drawsText: true, megabytes: 7)
        configuration.cache = SpaceLimits(limit: ByteCount(10_000_000_000), keepFree: ByteCount(123_456_789))
        configuration.content = ContentSettings(isOn: true, megabytes: 8)
        try configuration.add(.init(name: "disk", url: "folder:/mnt/disk", isDefault: true, identity: "id-1"))
        try configuration.add(.init(name: "usb", url: "folder:/mnt/usb", isDefault: false, identity: nil))
        let id = try #require(ContainerID("iCloud.com.example.Notes"))
        try configuration.add(.init(id: id, name: "Notes", provider: "usb", isPublic: true))
        let reading = try read(ConfigurationWriter.text(configuration))
        #expect(reading.configuration == configuration)
        #expect(reading.unknownKeys.isEmpty)
        #expect(reading.configuration.defaultProvider?.name == "disk")
    }

    @Test("Keys that are left away have defaults")
    func defaults() throws {
        let configuration = try read(Self.smallest).configuration
        #expect(configuration.pollSeconds == 15 && configuration.listSeconds == 0)
        #expect(configuration.settleMilliseconds == 300)
        #expect(!configuration.content.isOn)
        #expect(configuration.ephemeralPatterns == EphemeralNames.standardPatterns)
        #expect(configuration.defaultProvider?.name == "p")
    }

    @Test("Unknown keys are told and not fatal")
    func unknownKeys() throws {
        let reading = try read("colour = 1\n" + Self.smallest + "\nspeed = 3\n[sync]\nx = 1\n")
        #expect(reading.unknownKeys == ["colour", "sync.x", "provider.speed"])
    }

    @Test("A syntax error names file, line and column")
    func syntaxError() {
        #expect(refusal("format = 1\n[drive\n").hasPrefix("/h/config.toml:2:"))
        #expect(refusal("format = = 1").hasPrefix("/h/config.toml:1:10"))
    }

    @Test(
        "A wrong value names its key",
        arguments: [
            ("[sync]\npoll_seconds = \"x\"", "sync.poll_seconds is not a whole number"),
            ("[cache]\nlimit = \"ten\"", "cache.limit is not a size: write a number and a unit, as in \"10 GB\""),
            ("[cache]\nkeepFree = -1", "cache.keepFree is not a size: write a number and a unit, as in \"10 GB\""),
            ("[sync]\npoll_seconds = 0", "sync.poll_seconds is 0, not within 1 … 86400"),
            ("[coordination]\ndeadline_seconds = 1.5", "coordination.deadline_seconds is not a whole number"),
            ("[ephemeral]\npatterns = [1]", "ephemeral.patterns is not a list of strings"),
            ("[[container]]\nid = \"a b\"\nname = \"x\"", "container.id is not a container id"),
            ("[[container]]\nid = \"a\"\nname = \"x/y\"", "container.name is not a file name"),
            ("[[container]]\nid = \"a\"\nname = \"x\"\nprovider = \"q\"", "no provider is named q"),
            ("[[provider]]\nname = \"p\"\nurl = \"folder:/q\"", "a provider named p exists already"),
            ("[[provider]]\nname = \"q\"", "provider.url is missing"),
        ])
    func wrongValues(text: String, message: String) {
        let refusal = refusal(Self.smallest + "\n" + text)
        #expect(refusal.contains(message), "\(refusal)")
    }

    @Test("A newer format is refused by name")
    func newerFormat() {
        do {
            _ = try read("format = 2")
            Issue.record("accepted")
        } catch {
            #expect(error.message.contains("made by a newer Quire (format 2; this one knows 1)"))
            #expect(error.code == .unavailable)
        }
    }

    @Test("The default provider and one in use are not removed")
    func removal() throws {
        var configuration = Configuration.new(home: "/h", deviceName: "n", deviceID: "d")
        try configuration.add(.init(name: "usb", url: "folder:/usb", isDefault: false, identity: nil))
        let id = try #require(ContainerID("a.b"))
        try configuration.add(.init(id: id, name: "B", provider: "usb", isPublic: false))
        #expect(throws: QuireError.self) { try configuration.removeProvider(named: "embedded") }
        #expect(throws: QuireError.self) { try configuration.removeProvider(named: "usb") }
        #expect(throws: QuireError.self) { try configuration.removeProvider(named: "none") }
        try configuration.add(.init(name: "third", url: "folder:/3", isDefault: true, identity: nil))
        try configuration.removeProvider(named: "embedded")
        #expect(configuration.providers.map(\.name) == ["usb", "third"])
    }

    @Test(
        "What a running drive has stays with the provider that has it, whatever the file says; containers that are new come"
    )
    func whileRunning() throws {
        func container(_ id: String, _ name: String, at provider: String) throws -> Configuration.Container {
            try .init(
                id: #require(ContainerID(id)), name: #require(FileName(name)), provider: provider, isPublic: false)
        }
        var running = Configuration.new(home: "/h", deviceName: "n", deviceID: "d")
        try running.add(.init(name: "usb", url: "folder:/usb", isDefault: false, identity: nil))
        try running.add(try container("a.kept", "Kept", at: "usb"))

        var changed = running
        for name in ["nas", "third"] {
            try changed.add(.init(name: name, url: "folder:/\(name)", isDefault: name == "nas", identity: nil))
        }
        try changed.add(try container("a.early", "Early", at: "embedded"))
        try changed.add(try container("a.new", "New", at: "third"))
        var kept = changed.keepingBindings(of: running)
        #expect(kept.defaultProvider == running.defaultProvider)
        #expect(Set(kept.containers.map(\.name)) == [FileName("Kept"), FileName("New")])

        // As by hand.
        changed.providers.removeAll { $0.name == "embedded" }
        changed.providers[0].url = "folder:/elsewhere"
        changed.containers = [try container("a.kept", "Kept", at: "third")]
        kept = changed.keepingBindings(of: running)
        #expect(kept.defaultProvider == running.defaultProvider)
        #expect(kept.provider(named: "usb")?.url == "folder:/usb")
        #expect(kept.separateContainers == running.separateContainers)
    }

    @Test("The file is replaced whole, and keys it would lose stop that")
    func fileUpdate() throws {
        let directory = try TemporaryDirectory()
        let file = ConfigurationFile(path: "\(directory.path)/deep/er/config.toml")
        #expect(try file.read() == nil)
        let configuration = Configuration.new(home: directory.path, deviceName: "n", deviceID: "d")
        try file.write(configuration)
        #expect(try file.read()?.configuration == configuration)
        let changed = try file.update { $0.parallel = 9 }
        #expect(try file.read()?.configuration == changed)
        try directory.write("deep/er/config.toml", Self.smallest + "\nspeed = 1\n")
        #expect(throws: QuireError.self) { _ = try file.update { $0.parallel = 1 } }
    }
}

@Suite("Home")
struct HomeLocationTests {
    private func location(_ option: String?, _ environment: [String: String]) throws(QuireError) -> HomeLocation {
        try HomeLocation(option: option, environment: { environment[$0] }, workingDirectory: "/w")
    }

    @Test("--home comes before QUIRE_HOME, which comes before the XDG directories")
    func order() throws {
        #expect(try location("h", ["QUIRE_HOME": "/q"]).configurationPath == "/w/h/config.toml")
        #expect(try location(nil, ["QUIRE_HOME": "/q/", "HOME": "/u"]).home == "/q")
        let standard = try location(nil, ["HOME": "/u"])
        #expect(standard.home == "/u/.local/share/quire")
        #expect(standard.configurationPath == "/u/.config/quire/config.toml")
        let own = try location(nil, ["HOME": "/u", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "relative"])
        #expect(own.home == "/d/quire")
        #expect(own.configurationPath == "/u/.config/quire/config.toml")
        #expect(throws: QuireError.self) { _ = try location(nil, [:]) }
    }

    /// What is said where the configuration of a home that holds a drive is not found; nil where one is made.
    private func loss(_ option: String?, _ environment: [String: String]) throws -> String? {
        do {
            #expect(try location(option, environment).readConfiguration() == nil)
            return nil
        } catch {
            #expect(error.code == .unavailable)
            return "\(error.message). \(error.remedy ?? "")"
        }
    }

    @Test("A home that holds a drive whose configuration is not found is not taken for a new one")
    func lostConfiguration() throws {
        let directory = try TemporaryDirectory()
        let root = directory.path
        let (data, home) = (root, try directory.make("quire"))
        let usual = ["XDG_DATA_HOME": data, "XDG_CONFIG_HOME": "\(root)/conf", "HOME": "\(root)/u"]
        let there = try location(nil, usual)
        #expect(try there.readConfiguration() == nil)
        try there.configuration.write(.new(home: home, deviceName: "n", deviceID: "d"))
        try directory.write("quire/index.sqlite", "")
        // Of a version that kept no copy.
        let missing = "\(root)/u/.config/quire/config.toml is missing, but \(home) holds a drive. "
        let bare = ["XDG_DATA_HOME": data, "HOME": "\(root)/u"]
        #expect(try loss(nil, bare)?.hasPrefix(missing + "If XDG_CONFIG_HOME was another") == true)
        #expect(try loss(home, usual)?.contains("If the drive was made without --home") == true)
        try there.configuration.keepCopy()
        #expect(
            try loss(nil, bare) == missing
                + "Its configuration is \(root)/conf/quire/config.toml: set XDG_CONFIG_HOME=\(root)/conf")
        #expect(
            try loss(home, usual)?.hasSuffix(": leave --home and QUIRE_HOME away, with XDG_CONFIG_HOME=\(root)/conf")
                == true)
        #expect(unlink("\(root)/conf/quire/config.toml") == 0)
        let copy = "\(home)/config.toml.last"
        #expect(
            try loss(nil, bare) == missing + "Restore it, or bring back what it said last: "
                + "`install -D -m 600 \(copy) \(root)/u/.config/quire/config.toml`")
        try location(home, [:]).configuration.write(.new(home: home, deviceName: "n", deviceID: "d"))
        #expect(try loss(nil, bare)?.hasSuffix(": name the home, with --home \(home)") == true)
        // The copy alone tells that there was a drive.
        for file in ["index.sqlite", "config.toml"] { #expect(unlink("\(home)/\(file)") == 0) }
        #expect(try loss(nil, bare) != nil)
        #expect(unlink(copy) == 0)
        #expect(try loss(nil, bare) == nil)
    }

    @Test("What the configuration says is kept in the home as it is written, and with each change")
    func keptCopy() throws {
        let directory = try TemporaryDirectory()
        let here = try location(directory.path, [:])
        let text = "# mine\n" + ConfigurationWriter.text(.new(home: "/h", deviceName: "n", deviceID: "d"))
        func kept() throws -> String? {
            try DurableFile.read(here.kept.path).map { String(decoding: $0, as: UTF8.self) }
        }
        let heading = "# Kept for when it is lost: \(here.configurationPath)\n"
        try directory.write("config.toml", text)
        try here.configuration.keepCopy()
        #expect(try kept() == heading + text)
        // Put back, and kept again.
        try directory.write("config.toml", heading + text)
        try here.configuration.keepCopy()
        #expect(try kept() == heading + text)
        let changed = try here.configuration.update { $0.parallel = 9 }
        #expect(try kept() == heading + ConfigurationWriter.text(changed))
        var status = stat()
        #expect(stat(here.kept.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("A copy of a home is not said to have the configuration of the one that it was copied from")
    func copiedHome() throws {
        let directory = try TemporaryDirectory()
        let root = directory.path
        let usual = ["XDG_DATA_HOME": root, "HOME": "\(root)/u"]
        let there = try location(nil, usual)
        try there.configuration.write(.new(home: there.home, deviceName: "n", deviceID: "d"))
        try there.configuration.keepCopy()
        let copy = try directory.make("backup")
        let kept = try #require(try DurableFile.read(there.kept.path))
        try DurableFile.replace("\(copy)/config.toml.last", with: kept)
        for (option, more) in [(copy, [:]), (nil, ["QUIRE_HOME": copy])] as [(String?, [String: String])] {
            #expect(
                try loss(option, usual.merging(more) { $1 })?.hasSuffix(
                    "`install -D -m 600 \(copy)/config.toml.last \(copy)/config.toml`") == true)
        }
    }

    @Test("Where the configuration cannot be written, what it says is kept still", arguments: [true, false])
    func keptUnwritten(isKept: Bool) throws {
        let directory = try TemporaryDirectory()
        let here = try location(directory.path, [:])
        try here.configuration.write(.new(home: "/h", deviceName: "n", deviceID: "d"))
        if isKept { try here.configuration.keepCopy() }
        let kept = try DurableFile.read(here.kept.path)
        // In the place of what would replace it.
        _ = try directory.make("config.toml.\(getpid()).new")
        #expect(throws: QuireError.self) { _ = try here.configuration.update { $0.parallel = 9 } }
        #expect(try DurableFile.read(here.kept.path) == kept && (kept != nil) == isKept)
    }

    @Test("--home before the subcommand is taken out")
    func leading() {
        var seen: [String] = []
        let rest = HomeOptions.takingLeadingHome(["--home", "/a", "--home=/b", "status", "--home", "/c"]) {
            seen.append($0)
        }
        #expect(rest == ["status", "--home", "/c"])
        #expect(seen == ["/a", "/b"])
    }
}
