/// An error as a person meets it: on the command line, over the control socket, in `quire status`.
public struct QuireError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure; decides the exit code (sysexits where one fits).
    public struct Code: Sendable, Hashable {
        package let value: Value

        package enum Value: String, Sendable, CaseIterable {
            case usage, unavailable, temporary, notFound, notAllowed, busy, conflict, failed
        }

        package init(_ value: Value) { self.value = value }

        /// The call itself is wrong: 64.
        public static let usage = Code(.usage)
        /// Something needed is not there: 69.
        public static let unavailable = Code(.unavailable)
        /// May succeed later: 75.
        public static let temporary = Code(.temporary)
        /// No such item: 66.
        public static let notFound = Code(.notFound)
        /// Not permitted: 77.
        public static let notAllowed = Code(.notAllowed)
        /// In use by somebody: 75.
        public static let busy = Code(.busy)
        /// Both sides changed: 2.
        public static let conflict = Code(.conflict)
        /// Anything else: 1.
        public static let failed = Code(.failed)

        /// 64 usage, 66 no such item, 69 unavailable, 75 temporary, 77 not allowed, 2 conflict, 1 anything else.
        public var exitCode: Int32 {
            switch value {
            case .usage: 64
            case .notFound: 66
            case .unavailable: 69
            case .temporary, .busy: 75
            case .notAllowed: 77
            case .conflict: 2
            case .failed: 1
            }
        }
    }

    /// Decides the exit code.
    public let code: Code
    /// Names the item and what failed.
    public let message: String
    /// What to do about it.
    public let remedy: String?

    /// An error with its remedy, where there is one.
    public init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// Message and remedy, as shown.
    public var description: String { remedy.map { "\(message). \($0)" } ?? message }
}
