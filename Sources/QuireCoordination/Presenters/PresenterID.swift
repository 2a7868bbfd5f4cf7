/// Names one registered presenter.
package struct PresenterID: Hashable, Sendable, Comparable {
    /// Unique among the presenters of one daemon; rises with each registration.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: PresenterID, right: PresenterID) -> Bool { left.rawValue < right.rawValue }
}

/// Names one question to a presenter.
package struct QuestionID: Hashable, Sendable, Comparable {
    /// Rises from question to question; never used twice.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: QuestionID, right: QuestionID) -> Bool { left.rawValue < right.rawValue }
}
