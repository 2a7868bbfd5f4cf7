/// The callbacks that a presenter implements; others are not sent to it. Names as in `NSFilePresenter`.
package struct PresenterCallbacks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let relinquishToReader = PresenterCallbacks(rawValue: 1 << 0)
    package static let relinquishToWriter = PresenterCallbacks(rawValue: 1 << 1)
    package static let saveChanges = PresenterCallbacks(rawValue: 1 << 2)
    package static let accommodateDeletion = PresenterCallbacks(rawValue: 1 << 3)
    package static let accommodateSubitemDeletion = PresenterCallbacks(rawValue: 1 << 4)
    package static let didMove = PresenterCallbacks(rawValue: 1 << 5)
    package static let didChange = PresenterCallbacks(rawValue: 1 << 6)
    package static let subitemDidAppear = PresenterCallbacks(rawValue: 1 << 7)
    package static let subitemDidMove = PresenterCallbacks(rawValue: 1 << 8)
    package static let subitemDidChange = PresenterCallbacks(rawValue: 1 << 9)
    /// Versions of the item gained, lost, resolved.
    package static let versions = PresenterCallbacks(rawValue: 1 << 10)
    /// Versions of items below gained, lost, resolved.
    package static let subitemVersions = PresenterCallbacks(rawValue: 1 << 11)
    package static let ubiquityAttributes = PresenterCallbacks(rawValue: 1 << 12)

    /// Everything.
    package static let all = PresenterCallbacks(rawValue: (1 << 13) - 1)

    /// Each with its name on the wire.
    package static let names: [(name: String, callback: PresenterCallbacks)] = [
        ("relinquishToReader", .relinquishToReader), ("relinquishToWriter", .relinquishToWriter),
        ("saveChanges", .saveChanges), ("accommodateDeletion", .accommodateDeletion),
        ("accommodateSubitemDeletion", .accommodateSubitemDeletion), ("didMove", .didMove), ("didChange", .didChange),
        ("subitemDidAppear", .subitemDidAppear), ("subitemDidMove", .subitemDidMove),
        ("subitemDidChange", .subitemDidChange), ("versions", .versions), ("subitemVersions", .subitemVersions),
        ("ubiquityAttributes", .ubiquityAttributes),
    ]

    /// The name of a single callback; nil for sets of several.
    var name: String? { Self.names.first { $0.callback == self }?.name }
}
