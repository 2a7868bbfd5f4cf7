/// One line of the table: what is measured, and what the drive must reach.
struct Row: Sendable {
    enum Unit: Sendable {
        /// How many operations a run makes.
        case operations(@Sendable (Sizes) -> Int)
        /// The time is the result.
        case seconds
        /// How many MiB a run moves.
        case mebibytes(@Sendable (Sizes) -> Int)
    }

    /// The least speed that is asked for, as a multiple of another's.
    struct Target: Sendable {
        var passthroughLL = 1.0
        var bare: Double?
        /// For the drive where passthrough is not allowed, of the bare file system's.
        var bareWithoutPassthrough: Double?
    }

    /// What the command line calls it.
    let key: String
    let name: String
    let unit: Unit
    let target: Target
    /// Keys of rows that must have run in the same directory.
    var requires: [String] = []
    /// Whether the kernel forgets what it knows between `prepare` and `run`.
    var isCold = false
    /// Whether it leaves everything as it is: nothing is uploaded for it.
    var isReading = false
    /// Whether what the drive does without passthrough differs here.
    var isContent = false
    /// What one operation is, where requests per operation are counted.
    var each = "operation"
    /// Not measured.
    var prepare: @Sendable (Place) throws -> Void = { _ in }
    /// Returns the measured seconds.
    let run: @Sendable (Place) throws -> Double

    /// Short rows are measured more often.
    var rounds: Int {
        if case .seconds = unit { 3 } else { 5 }
    }

    /// In the order of measuring. What removes comes last: some file systems are slow where much was just removed.
    static let all = makingCalls + treePrograms + contentRows + concurrentRows + removingCalls + removingPrograms

    static func keyed(_ key: String) -> Row? { all.first { $0.key == key } }
}

/// Where a row works: one subject's fresh directory of one round.
struct Place {
    /// The subject's; exists.
    let directory: String
    let sizes: Sizes
    let fixtures: Fixtures

    func path(_ name: String) -> String { "\(directory)/\(name)" }
}

/// Seconds of a body.
func timed(_ body: () throws -> Void) rethrows -> Double {
    let elapsed = try ContinuousClock().measure(body)
    return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
}
