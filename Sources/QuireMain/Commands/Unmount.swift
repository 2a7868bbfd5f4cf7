import ArgumentParser
import Glibc
import QuireCommandLine
import QuireCore
import QuireTransport

struct Unmount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmount", abstract: "Unmount the drive and stop its daemon.",
        discussion:
            "Finishes pending index work first. Says what is not yet uploaded; that is uploaded at the next mount.")

    @OptionGroup var home: HomeOptions

    func run() async throws {
        let location = try home.location()
        let connection = try DriveConnection(home: location.home)
        let daemon = try await connection.call(DriveMethods.Hello.self).pid
        let left = try await connection.call(DriveMethods.Shutdown.self)
        await connection.waitUntilClosed()
        // The connection is among the first things that an ending process lets go of, the home's file system among the last.
        await HomeStanding.waitForProcess(daemon, milliseconds: 10_000)
        if let words = Self.words(left) { Output.message(words) }
    }

    /// What there is to say of what is not uploaded.
    static func words(_ left: DriveMethods.Shutdown.Result) -> String? {
        let pending = left.pending.total > 0 ? "not yet uploaded: \(StatusText.pending(left.pending))" : nil
        let doubt = left.doubt.map {
            (pending == nil ? "how much is not yet uploaded" : "and how much more") + " cannot be told: \($0)"
        }
        let words = [pending, doubt].compactMap { $0 }
        return words.isEmpty ? nil : words.joined(separator: ", ") + "; the next `quire mount` goes on with it"
    }
}
