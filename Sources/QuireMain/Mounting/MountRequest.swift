import Glibc
import QuireCore

/// The options of `-o`: Quire's own, those for the kernel, and those that only mount(8) and systemd read in fstab.
struct MountRequest: Sendable, Equatable {
    var allowOther = false
    var readers: Int?
    var passthrough = true
    /// Let the kernel collect small writes where it does not pass them through.
    var writeback = true
    var debug = false
    /// Have the index hear of what programs do. `debug_noindex` switches that off, for measuring what it costs: nothing is
    /// recorded, so neither queries nor uploads know of it until the next mount. Named in no help.
    var indexes = true
    /// Flags that the kernel keeps, as mount(8) spells them.
    var kernel: [String] = []
    /// Options that are accepted and change nothing, worth a word.
    var ignored: [String] = []

    /// - Parameter options: each may be several, separated by commas.
    init(_ options: [String] = []) throws(QuireError) {
        for option in options.flatMap({ $0.split(separator: ",") }) { try add(String(option)) }
    }

    private mutating func add(_ option: String) throws(QuireError) {
        let name = String(option.prefix { $0 != "=" })
        switch option {
        case "allow_other": allowOther = true
        case "nopassthrough": passthrough = false
        case "nowriteback": writeback = false
        case "debug": debug = true
        case "debug_noindex": indexes = false
        case "remount":
            throw QuireError(
                .usage, "the drive cannot be remounted by its daemon",
                remedy: "Use `mount -i -o remount,… MOUNTPOINT`, or unmount and mount it")
        case _ where name == "readers":
            guard let count = Int(option.dropFirst(8)), (1...16).contains(count) else { throw unknown(option) }
            readers = count
        case _ where Self.forKernel.contains(option):
            // The later one counts, as in mount(8).
            kernel.removeAll { $0 == option || $0 == Self.opposite(option) }
            kernel.append(option)
        case _ where Self.forOthers.contains(name) || name.hasPrefix("x-"): break
        case _ where Self.withoutEffect.contains(name): ignored.append(option)
        default: throw unknown(option)
        }
    }

    private func unknown(_ option: String) -> QuireError {
        QuireError(
            .usage, "the mount option \"\(option)\" is not known",
            remedy:
                "Known are allow_other, readers=1…16, nopassthrough, nowriteback, debug, and what mount(8) has for every file system"
        )
    }

    /// What the kernel does for every file system.
    private static let forKernel: Set<String> = [
        "ro", "rw", "exec", "noexec", "suid", "nosuid", "dev", "nodev", "sync", "async", "dirsync", "atime", "noatime",
        "diratime", "nodiratime", "default_permissions",
    ]

    /// What mount(8) and systemd read in fstab, and what holds anyway.
    private static let forOthers: Set<String> = [
        "defaults", "auto", "noauto", "user", "nouser", "users", "owner", "group", "nofail", "_netdev", "comment",
        "relatime", "norelatime", "strictatime", "lazytime", "nolazytime", "silent", "loud",
    ]

    /// Of other FUSE file systems, where they change what files look like; here files look as they are.
    private static let withoutEffect: Set<String> = ["uid", "gid", "umask", "nonempty"]

    private static func opposite(_ option: String) -> String {
        switch option {
        case "ro": "rw"
        case "rw": "ro"
        case "sync": "async"
        case "async": "sync"
        case _ where option.hasPrefix("no") && forKernel.contains(String(option.dropFirst(2))):
            String(option.dropFirst(2))
        default: "no" + option
        }
    }
}

/// Whether users may share their mounts on this machine (`/etc/fuse.conf`, fuse(8)).
enum FuseConfiguration {
    /// - Throws: `.notAllowed` when this user may not have `allow_other`.
    static func checkSharing(path: String = "/etc/fuse.conf") throws(QuireError) {
        guard geteuid() != 0, !allowsSharing(path) else { return }
        throw QuireError(
            .notAllowed, "allow_other is not for ordinary users on this machine",
            remedy: "An administrator permits it with the line `user_allow_other` in \(path)")
    }

    private static func allowsSharing(_ path: String) -> Bool {
        guard let file = fopen(path, "re") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 1024)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if text.prefix(while: { $0 != "#" }).filter({ !$0.isWhitespace }) == "user_allow_other" { return true }
        }
        return false
    }
}
