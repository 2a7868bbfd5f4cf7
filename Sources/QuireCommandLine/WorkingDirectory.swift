import Glibc

/// Where this process is.
package enum WorkingDirectory {
    /// Absolute; `/` where the directory is gone.
    package static var path: String {
        guard let raw = getcwd(nil, 0) else { return "/" }
        defer { free(raw) }
        return String(cString: raw)
    }
}
