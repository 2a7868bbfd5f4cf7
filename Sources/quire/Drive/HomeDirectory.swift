import Glibc
import QuireCore

/// The home directory before anything is in it.
enum HomeDirectory {
    /// Makes the home where it is missing, so that the daemon has a place for its log.
    static func prepareLog(_ location: HomeLocation) throws(QuireError) {
        var made = ""
        for part in location.home.split(separator: "/") {
            made += "/\(part)"
            guard mkdir(made, 0o700) == 0 || errno == EEXIST || access(made, F_OK) == 0 else {
                throw QuireError(
                    .unavailable, "cannot make the home \(location.home): \(made): \(String(cString: strerror(errno)))",
                    remedy: "Choose another with --home")
            }
        }
    }
}
