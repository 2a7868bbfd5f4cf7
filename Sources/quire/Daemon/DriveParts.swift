import Glibc
import Logging
import QuireCoordination
import QuireCore
import QuireFilesystem
import QuireStore
import ServiceLifecycle

/// The parts of a drive that is served.
struct DriveParts: Sendable {
    let home: OpenHome
    let tree: DriveTree
    let coordinator: Coordinator
    let mount: DriveMount
    let setup: SetupService
    let services: [any Service]

    /// Opens all parts; the drive is mounted when this returns. Whatever was opened is closed again on an error.
    static func open(
        _ home: OpenHome, plan: MountPlan, mountpoint: Mountpoint, logger: Logger
    ) async throws -> DriveParts {
        let tree: DriveTree
        do {
            tree = try home.home.openStore()
        } catch {
            throw QuireError(error)
        }
        let coordinator = Coordinator()
        let content = LateContentSource()
        try mountpoint.make()
        let mount: DriveMount
        do {
            mount = try DriveMount.mount(
                at: mountpoint.path, tree: tree,
                services: DriveServices(
                    sink: NoIndex(), content: content, attributes: NoIndex(), coordinator: coordinator,
                    claimDeadline: .seconds(home.configuration.deadlineSeconds)),
                options: MountOptions(
                    allowOther: plan.options.allowOther, passthrough: plan.options.passthrough,
                    readers: plan.options.readers ?? 2),
                containerRoots: Set(home.configuration.containers.map(\.name)), logger: logger)
        } catch {
            throw QuireError(.unavailable, error.message, remedy: error.remedy)
        }
        let setup = SetupService(location: home.location) { _ in [] }
        return DriveParts(
            home: home, tree: tree, coordinator: coordinator, mount: mount, setup: setup, services: [])
    }

    /// Brings everything to rest, after the drive was unmounted.
    func close() async throws {}
}

struct NoIndex: StoreEventSink, ItemAttributeSource {
    func record(_ event: StoreEvent) {}
    func attribute(_ name: String, at path: RelativePath) async -> [UInt8]? { nil }
    func attributeNames(at path: RelativePath) async -> [String] { [] }
    func setAttribute(_ name: String, to value: [UInt8]?, at path: RelativePath) async -> Int32 { EPERM }
}
