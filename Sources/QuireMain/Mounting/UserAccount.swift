import Glibc
import QuireCore

/// A user of this machine, as its list of accounts has them (getpwnam(3)).
struct UserAccount: Sendable {
    let name: String
    let uid: uid_t
    let gid: gid_t
    let directory: String

    /// The user that this process runs as; nil where the list does not know them.
    static func current() -> UserAccount? {
        guard let entry = getpwuid(geteuid()) else { return nil }
        return UserAccount(entry.pointee)
    }

    /// - Throws: `.usage` when there is no such user.
    init(named name: String) throws(QuireError) {
        guard let entry = getpwnam(name) else {
            throw QuireError(.usage, "setuid=\(name): there is no such user", remedy: "See `getent passwd`")
        }
        self.init(entry.pointee)
    }

    private init(_ entry: passwd) {
        name = String(cString: entry.pw_name)
        uid = entry.pw_uid
        gid = entry.pw_gid
        directory = String(cString: entry.pw_dir)
    }

    /// From now on this process is the user's, with their groups and their environment. Needs root.
    ///
    /// - Throws: `.notAllowed`.
    func become() throws(QuireError) {
        guard initgroups(name, gid) == 0, setgid(gid) == 0, setuid(uid) == 0 else {
            throw QuireError(
                .notAllowed, "setuid=\(name): \(String(cString: strerror(errno)))", remedy: "It needs root")
        }
        for (variable, value) in [("HOME", directory), ("USER", name), ("LOGNAME", name)] { setenv(variable, value, 1) }
        // Another's, if they are set.
        for variable in ["QUIRE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] { unsetenv(variable) }
    }
}
