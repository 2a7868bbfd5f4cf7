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
        let pending = try await connection.call(DriveMethods.Shutdown.self).pending
        await connection.waitUntilClosed()
        // The connection is among the first things that an ending process lets go of, the home's file system among the last.
        await HomeStanding.waitForProcess(daemon, milliseconds: 10_000)
        guard pending.total > 0 else { return }
        Output.message("not yet uploaded: \(StatusText.pending(pending)); the next `quire mount` goes on with it")
    }
}
