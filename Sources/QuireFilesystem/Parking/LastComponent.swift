import QuireCore

/// What the last component of a call's path may turn out to be, without the call being over: the kernel looks it up, and asks
/// for nothing more where it knows by then how the call ends.
struct LastComponent: Sendable {
    /// What a call that makes a name does where that is there.
    enum WhenThere: Sendable {
        /// `mkdir`, `link`, `symlink`, `mknod`, `open` with O_EXCL: EEXIST.
        case fails
        /// `open` with O_CREAT: another request follows.
        case opens
        /// `rename`.
        case replaces
    }

    private let made: FileName?
    private let whenThere: WhenThere

    /// Of a call that needs what is there.
    static let present = LastComponent(made: nil, whenThere: .fails)

    /// Of a call that makes a name, where something may be already.
    static func made(_ name: FileName, _ whenThere: WhenThere) -> LastComponent {
        LastComponent(made: name, whenThere: whenThere)
    }

    /// Whether the call is over when a name on its path is there, or is not.
    func ends(_ name: FileName, isThere: Bool) -> Bool {
        if case .fails = whenThere, isThere { return name == made }
        return !isThere && name != made
    }
}
