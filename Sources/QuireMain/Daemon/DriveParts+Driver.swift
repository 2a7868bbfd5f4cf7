import QuireCore
import QuireFilesystem
import QuireIndex

extension DriveParts {
    /// What the driver tells of itself, and what only the daemon knows.
    func driverStatus() -> DriverStatus {
        let report = mount.report()
        let descriptors = ProcessLimits.descriptors()
        return DriverStatus(
            mountpoint: mount.mountpoint,
            requests: report.kinds.map {
                .init(kind: $0.name, atOnce: .init($0.atOnce), waited: .init($0.waited))
            }, parked: report.parked, interrupted: report.interrupted, nodes: report.nodes,
            directoryDescriptors: .init(used: report.directoryDescriptors, limit: report.directoryDescriptorLimit),
            openFiles: report.openFiles, descriptors: .init(used: descriptors.used, limit: descriptors.limit),
            queuedEvents: index.index.queuedEvents, passthroughObstacle: report.passthroughObstacle,
            writebackCache: report.writebackCache, readers: report.readers,
            protocolVersion: "7.\(report.protocolMinor)", kernelProtocolVersion: "7.\(report.kernelMinor)")
    }
}

extension DriverStatus.Times {
    init(_ times: DriverReport.Times) {
        self.init(
            count: times.count, p50: Self.microseconds(times.median), p99: Self.microseconds(times.ninetyNinth),
            longest: Self.microseconds(times.longest), total: Self.microseconds(times.total))
    }

    /// With one digit: the rest is below what the classes tell.
    private static func microseconds(_ nanoseconds: Int) -> Double { Double((nanoseconds + 50) / 100) / 10 }
}
