import CLinux
import Glibc
import QuireCore

/// The extended attributes that programs set on a document and no provider keeps: they stay on this device when another file
/// takes the document's place, its content, its placeholder, or another version.
///
/// Carried are those in `user.` and, where this process sees them, `trusted.`. Not Quire's own, which say something of one
/// file. Not those in `security.` and `system.`: a label comes from the system, what was granted to a program's file is not
/// granted to whatever arrives (as with setuid), and the mount has no access control lists.
enum CarriedAttributes {
    /// Copies them to a staged file that has none of the same name. One system call where there are none.
    ///
    /// All are tried.
    /// - Parameters:
    ///   - file: open for reading.
    ///   - stagedPath: absolute; of a symlink, which has no such attributes, nothing becomes.
    ///   - hasTags: whether the document has tags of its own: what a program wrote into the store as tags is over then.
    /// - Throws: the first failure: `.noSpace` where they do not fit.
    static func carry(from file: Int32, to stagedPath: String, hasTags: Bool) throws(StoreError) {
        let names = try names(of: file, stagedPath).filter { isCarried($0, hasTags: hasTags) }
        guard !names.isEmpty else { return }
        // Whatever its mode is.
        let staged = try OwnedDescriptor.open(stagedPath, quire_O_PATH | O_NOFOLLOW)
        let status = try staged.status()
        guard status.kind == .file else { return }
        var failure: StoreError?
        let isLocked = status.mode & 0o200 == 0
        if isLocked { try setMode(status.mode | 0o200, of: staged.rawValue, stagedPath) }
        for name in names {
            do throws(StoreError) { try copy(name, from: file, to: staged.rawValue, stagedPath) } catch {
                failure = failure ?? error
            }
        }
        if isLocked { try setMode(status.mode, of: staged.rawValue, stagedPath) }
        if let failure { throw failure }
    }

    private static func isCarried(_ name: [UInt8], hasTags: Bool) -> Bool {
        if name.starts(with: "trusted.".utf8) { return true }
        return name.starts(with: "user.".utf8) && !name.starts(with: "user.quire.".utf8)
            && !(hasTags && name.elementsEqual("user.xdg.tags".utf8))
    }

    private static func names(of file: Int32, _ item: String) throws(StoreError) -> [[UInt8]] {
        var buffer = [CChar](repeating: 0, count: 512)
        while true {
            let count = flistxattr(file, &buffer, buffer.count)
            if count >= 0 {
                return buffer.prefix(count).map(UInt8.init(bitPattern:)).split(separator: 0).map(Array.init)
            }
            switch errno {
            case EOPNOTSUPP: return []
            case ERANGE where buffer.count < mostBytes: buffer = [CChar](repeating: 0, count: mostBytes)
            case let code: throw StoreError(errno: code, "list the attributes for", item)
            }
        }
    }

    private static func copy(
        _ name: [UInt8], from file: Int32, to staged: Int32, _ item: String
    ) throws(StoreError) {
        var value = [UInt8](repeating: 0, count: mostBytes)
        let count = cString(name) { fgetxattr(file, $0, &value, value.count) }
        // Taken away meanwhile.
        if count < 0, errno == ENODATA { return }
        var result: Int32 = -1
        if count >= 0 { result = cString(name) { quire_any_fsetxattr(staged, $0, value, count, Int32(XATTR_CREATE)) } }
        guard result < 0, errno != EEXIST else { return }
        throw StoreError(errno: errno, "carry the attribute \(String(decoding: name, as: UTF8.self)) to", item)
    }

    private static func setMode(_ mode: UInt16, of file: Int32, _ item: String) throws(StoreError) {
        try systemCall("set the mode of", item) { quire_any_fchmod(file, mode_t(mode)) }
    }

    /// Of a value, and of all names together (`linux/limits.h`).
    private static let mostBytes = 65_536
}
