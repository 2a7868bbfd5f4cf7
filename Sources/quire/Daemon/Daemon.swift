import QuireCore

enum Daemon {
    static func run(_ plan: MountPlan, report: LaunchReport, logsToStandardError: Bool) async throws {
        throw QuireError(.unavailable, "not yet")
    }
}
