/// An error as a person meets it: on the command line, over the control socket, in `quire status`.
public struct QuireError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure; decides the exit code (sysexits where one fits).
    public struct Code: Sendable, Hashable {
        package let value: Value

        package enum Value: String, Sendable, CaseIterable {
            case usage, unavailable, temporary, notFound, notAllowed, busy, conflict, failed
        }

        package init(_ value: Value) { self.value = value }

        public static let usage = Code(.usage)
        public static let unavailable = Code(.unavailable)
        public static let temporary = Code(.temporary)
        public static let notFound = Code(.notFound)
        public static let notAllowed = Code(.notAllowed)
        public static let busy = Code(.busy)
        public static let conflict = Code(.conflict)
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

    public let code: Code
    /// Names the item and what failed.
    public let message: String
    /// What to do about it.
    public let remedy: String?

    public init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    public var description: String { remedy.map { "\(message). \($0)" } ?? message }
}
