import QuireCore

/// The drive opened by this process while no daemon runs.
struct StoppedDrive: DriveCaller {
    private let caller: LocalCaller

    init(location: HomeLocation) throws(QuireError) {
        let setup = DriveSetup(location: location)
        var methods = MethodTable()
        methods.on(SetupMethods.ProviderList.self) { _, _ in
            let reading = try location.configuration.read()
            return .init(providers: reading.map { setup.providers($0.configuration) } ?? [])
        }
        methods.on(SetupMethods.ContainerList.self) { _, _ in
            let reading = try location.configuration.read()
            return .init(containers: reading.map { setup.containers($0.configuration) } ?? [])
        }
        caller = LocalCaller(methods: methods)
    }

    func call<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, onPartial: (@Sendable (Method.Partial) -> Void)?
    ) async throws(QuireError) -> Method.Result {
        try await caller.call(method, parameters, onPartial: onPartial)
    }
}
