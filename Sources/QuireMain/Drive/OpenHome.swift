import Glibc
import QuireCore
import QuireStore

/// A home that this process holds: laid out, locked, its filesystem found fit, its configuration read.
struct OpenHome: Sendable {
    let location: HomeLocation
    let home: DriveHome
    let layout: DriveHome.Layout
    var configuration: Configuration
    /// Keys of the configuration that this version does not know.
    let unknownKeys: [String]
    /// What there is to say of it.
    let notes: [String]
    private let lock: HomeLock

    /// Makes what is missing. The configuration is read before anything is made, so that a home of a newer version, or one
    /// whose configuration is wrong, is left as it is.
    ///
    /// - Throws: `.unavailable` when another daemon has the home, its filesystem cannot hold a store, or its configuration is
    ///   gone.
    init(_ location: HomeLocation) throws(QuireError) {
        _ = try location.readConfiguration()
        let home = DriveHome(path: location.home)
        do throws(StoreError) {
            layout = try home.createLayout()
            lock = try home.lock()
            try home.checkFilesystem()
            _ = try home.staging.sweep()
        } catch {
            throw QuireError(error)
        }
        let reading = try DriveSetup(location: location).openOrCreate()
        self.location = location
        self.home = home
        configuration = reading.configuration
        notes = Self.keepCopy(location)
        unknownKeys = reading.unknownKeys
    }

    /// A full disk is no reason not to start.
    private static func keepCopy(_ location: HomeLocation) -> [String] {
        do throws(QuireError) {
            try location.configuration.keepCopy()
            return []
        } catch {
            return ["what the configuration says is not kept for when it is lost: \(error.message)"]
        }
    }
}
