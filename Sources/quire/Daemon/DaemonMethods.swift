import Glibc
import Quire
import QuireCoordination
import QuireCore
import QuireFilesystem

/// The control socket's methods, as the daemon answers them.
struct DaemonMethods {
    let parts: DriveParts
    let shutdown: CancelSignal

    func table() -> MethodTable {
        var methods = MethodTable()
        addDrive(to: &methods)
        parts.setup.addMethods(to: &methods)
        CoordinationService(coordinator: parts.coordinator).addMethods(to: &methods)
        return methods
    }

    private func addDrive(to methods: inout MethodTable) {
        let (parts, shutdown) = (parts, shutdown)
        methods.on(DriveMethods.Hello.self) { _, _ in
            .init(
                version: Version.text, protocolVersion: Version.protocolNumber, pid: getpid(),
                mountpoint: parts.mount.mountpoint)
        }
        methods.on(DriveMethods.Shutdown.self) { _, _ in
            shutdown.fire()
            return .init(pending: PendingCounts())
        }
        methods.on(DriveMethods.Status.self) { _, _ in
            DriveStatus(
                home: parts.home.location.home, mountpoint: parts.mount.mountpoint,
                device: parts.home.configuration.deviceName, state: .mounted, passthrough: parts.mount.isPassthrough)
        }
    }
}
