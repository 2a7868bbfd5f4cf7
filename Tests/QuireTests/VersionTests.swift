import Foundation
import QuireCore
import QuireTransport
import Synchronization
import Testing

@testable import Quire

/// Versions, as the library asks the daemon for them.
@Suite("File versions")
struct VersionTests {
    private static func version(_ file: String?) -> VersionMethods.Version {
        VersionMethods.Version(
            name: "versionId=7", date: WireTime(FileTime(seconds: 7, nanoseconds: 0)), size: 4, file: file)
    }

    @Test("A version that only the provider keeps is downloaded once, and stays the same version")
    func download() async throws {
        let asked = Lock<[VersionMethods.Target]>([])
        let daemon = try FakeDaemon { request, _ in
            switch request.method {
            case VersionMethods.NonlocalVersions.name:
                return VersionMethods.Versions.Result(versions: [Self.version(nil)])
            case VersionMethods.DownloadVersion.name:
                if let target = try? request.parameters(VersionMethods.Target.self) {
                    asked.withLock { $0.append(target) }
                }
                return Self.version("/kept/here")
            default: return FakeDaemon.Standard()
            }
        }
        _ = try await daemon.connect()
        let document = try daemon.document("doc")
        let found = try #require(try await FileVersion.nonlocalVersionsOfItem(at: document).first)
        #expect(!found.hasLocalContents && found.url == nil)
        let here = try await found.download()
        #expect(here == found && here.hasLocalContents && here.url?.path == "/kept/here")
        #expect(here.persistentIdentifier == found.persistentIdentifier)
        #expect(try await here.download() === here)
        let current = try #require(try await FileVersion.currentVersionOfItem(at: document))
        #expect(try await current.download() === current)
        #expect(asked.withLock { $0 } == [VersionMethods.Target(path: WirePath("doc"), version: "versionId=7")])
    }

    @Test("Versions that come in several parts are all told, in order")
    func parts() async throws {
        let daemon = try FakeDaemon { request, peer in
            let names: [String]
            switch request.method {
            case VersionMethods.Versions.name: names = ["k5", "k4", "k3", "k2", "k1"]
            case VersionMethods.NonlocalVersions.name: names = ["n5", "n4", "n3", "n2", "n1"]
            case ItemMethods.Info.name:
                peer.answer(request.id, with: RPCError(QuireError(.notFound, "only versions")))
                return nil
            default: return FakeDaemon.Standard()
            }
            let versions = names.map {
                VersionMethods.Version(name: $0, date: WireTime(FileTime(nanoseconds: 1)), size: 1)
            }
            Task {
                await peer.sendPartial(Array(versions[..<2]), of: request.id)
                await peer.sendPartial(Array(versions[2..<4]), of: request.id)
                peer.answer(request.id, with: VersionMethods.Versions.Result(versions: Array(versions[4...])))
            }
            return nil
        }
        _ = try await daemon.connect()
        let document = try daemon.document("doc")
        let other = try await FileVersion.otherVersionsOfItem(at: document).map(\.name)
        #expect(other == ["k5", "k4", "k3", "k2", "k1"])
        let nonlocal = try await FileVersion.nonlocalVersionsOfItem(at: document).map(\.name)
        #expect(nonlocal == ["n5", "n4", "n3", "n2", "n1"])
    }

    @Test("A version that is gone cannot be downloaded, and the daemon's reason is told")
    func gone() async throws {
        let daemon = try FakeDaemon { request, peer in
            switch request.method {
            case VersionMethods.NonlocalVersions.name:
                return VersionMethods.Versions.Result(versions: [Self.version(nil)])
            case VersionMethods.DownloadVersion.name:
                peer.answer(request.id, with: RPCError(QuireError(.notFound, "doc has no version versionId=7")))
                return nil
            default: return FakeDaemon.Standard()
            }
        }
        _ = try await daemon.connect()
        let found = try #require(try await FileVersion.nonlocalVersionsOfItem(at: try daemon.document("doc")).first)
        await #expect { _ = try await found.download() } throws: { ($0 as? QuireError)?.code == .notFound }
    }
}
