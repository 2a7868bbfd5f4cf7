import Foundation
import Testing

/// Servers that keep the documents of drives: those that `Tests/Servers/run` has started.
enum StorageServers {
    /// A new collection or bucket at one of the servers.
    struct Account: Sendable {
        let name: String
        /// As `quire provider add` takes it.
        let url: String
        /// The same for programs that speak HTTP.
        let address: String

        /// Host and port.
        var authority: String { String(address.dropFirst("http://".count).prefix { $0 != "/" }) }

        /// The same account by another way: requests go to that port of this machine.
        func through(port: Int) -> Account {
            let way = "127.0.0.1:\(port)"
            return Account(
                name: name, url: url.replacing("@\(authority)/", with: "@\(way)/"),
                address: address.replacing("//\(authority)/", with: "//\(way)/"))
        }
    }

    static let secret = "quire-secret-key"

    /// URL by name, from `QUIRE_TEST_SERVERS`.
    static let started: [String: String] = {
        let text = ProcessInfo.processInfo.environment["QUIRE_TEST_SERVERS"] ?? ""
        let rows = text.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 2).map(String.init) }
        return Dictionary(uniqueKeysWithValues: rows.filter { $0.count == 3 }.map { ($0[0], $0[1]) })
    }()

    static func account(_ name: String) async throws -> Account {
        let url = try #require(started[name])
        let host = url.dropFirst("http://".count).dropLast()
        let collection = "drive-\(UInt32.random(in: 0 ... .max))"
        if stores.contains(name) {
            let bucket = "\(host)/\(collection)"
            try await signed("-X", "PUT", "http://\(bucket)")
            return Account(name: name, url: "s3+http://quire@\(bucket)", address: "http://\(bucket)")
        }
        let account = Account(
            name: name, url: "webdav+http://quire@\(host)/\(collection)", address: "http://\(host)/\(collection)")
        try await curl("-X", "MKCOL", "\(account.address)/")
        return account
    }

    /// Object stores among them.
    static let stores = ["seaweedfs", "moto", "ceph"]
    /// Those that heed conditions in a bucket that keeps versions, too, and a WebDAV server that keeps what is replaced.
    static let versionKeepers = ["seaweedfs", "moto", "revisions"]

    /// Has a bucket keep what is replaced in it.
    static func keepVersions(_ account: Account) async throws {
        guard stores.contains(account.name) else { return }
        let wish =
            "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled</Status>"
            + "</VersioningConfiguration>"
        try await signed(
            "-X", "PUT", "-H", "Content-Type: application/xml", "--data-raw", wish, "\(account.address)?versioning=")
    }

    /// Puts a file there by other means than Quire.
    static func put(_ file: String, _ account: Account, _ name: String) async throws {
        if stores.contains(account.name) {
            try await signed("-T", file, "\(account.address)/\(name)")
        } else {
            try await curl("-T", file, "\(account.address)/\(name)")
        }
    }

    /// What an account holds, asked by other means than Quire: as `Programs/account_tree.py` prints it.
    static func tree(_ account: Account) async throws -> String {
        try await tree(at: account.url)
    }

    /// The same of a directory.
    static func tree(at place: String, abortingMountsAt mounts: [String] = []) async throws -> String {
        try await Command(
            arguments: ["/usr/bin/python3", "\(Machine.programs)/account_tree.py", place],
            environment: ["QUIRE_SECRET": secret], limitSeconds: 120, abortingMountsAt: mounts
        ).succeed()
    }

    /// What a bucket answers to a query, as it is sent.
    static func ask(_ account: Account, _ query: String) async throws -> String {
        try await signed("\(account.address)?\(query)")
    }

    @discardableResult
    private static func signed(_ arguments: String...) async throws -> String {
        let signature = ["curl", "-sSf", "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", "quire:\(secret)"]
        return try await Command(arguments: signature + ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"] + arguments)
            .succeed()
    }

    @discardableResult
    static func curl(_ arguments: String...) async throws -> String {
        try await Command(arguments: ["curl", "-sSf", "--anyauth", "-u", "quire:\(secret)"] + arguments).succeed()
    }
}

extension Workspace {
    /// A drive that an account keeps, not mounted yet.
    func drive(at account: StorageServers.Account, _ name: String) async throws -> Drive {
        let drive = try await drive(name)
        try await drive.add(account, isDefault: true).require(0)
        return drive
    }
}

extension Drive {
    /// `quire provider add`, with the secret where no other program sees it.
    func add(
        _ account: StorageServers.Account, secret: String = StorageServers.secret, isDefault: Bool = false,
        options: [String] = []
    ) async -> Command.Outcome {
        await quire(
            ["provider", "add", account.name, account.url] + options + (isDefault ? ["--default"] : []), secret: secret)
    }

    /// `quire provider secret`.
    func renew(_ account: StorageServers.Account, secret: String = StorageServers.secret) async -> Command.Outcome {
        await quire(["provider", "secret", account.name], secret: secret)
    }

    private func quire(_ arguments: [String], secret: String) async -> Command.Outcome {
        await Command(
            arguments: [binary] + arguments, environment: environment.merging(["QUIRE_SECRET": secret]) { $1 }
        ).run()
    }

    /// Mounts again after a crash.
    func remount() async throws {
        _ = await Command(arguments: ["umount", "-l", mountpoint], limitSeconds: 10).run()
        try await mount()
    }
}
