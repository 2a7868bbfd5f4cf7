import Glibc
import Logging
import QuireCore
import Synchronization
import Testing

@testable import QuireMain

@Suite("Mount helper")
struct MountHelperTests {
    @Test(
        "The forms in which mount(8) and mount.fuse3 call are known from those of a person",
        arguments: [
            ("quire", ["/home/a/h", "/m", "-o", "rw,dev,suid"], true), ("quire", ["", "/m", "-o", "rw"], true),
            ("quire", ["none", "/m", "-o", "rw"], true), ("quire", ["/m", "-o", "rw,dev"], true),
            ("/sbin/mount.fuse.quire", ["none", "/m"], true), ("mount.quire", [], true),
            ("/usr/bin/quire", ["mount", "/m"], false), ("quire", [], false), ("quire", ["--help"], false),
            ("quire", ["/m"], false), ("quire", ["none"], false), ("quire", ["status", "/m/f"], false),
            ("/opt/mount.d/quire", ["status"], false),
        ])
    func forms(program: String, arguments: [String], isHelper: Bool) {
        #expect(MountHelper.isMeant(program: program, arguments: arguments) == isHelper)
    }

    @Test("Source, mountpoint, options and letters are taken in any order; a source may name no home")
    func parsing() throws {
        let full = try MountHelper(
            ["/h", "/m", "-nv", "-N", "7", "-t", "fuse.quire", "-o", "rw,user=ada,setuid=ada,nofail"])
        #expect(full.home == "/h" && full.mountpoint == "/m" && full.isVerbose && !full.isFake)
        #expect(full.user == "ada")
        #expect(full.options == ["rw", "user=ada", "nofail"])
        #expect(try MountHelper(["-f", "none", "/m"]).isFake)
        for source in ["none", "quire", ""] { #expect(try MountHelper([source, "/m"]).home == nil) }
        let alone = try MountHelper(["/m", "-o", "rw"])
        #expect(alone.home == nil && alone.mountpoint == "/m")
        for wrong in [
            [], ["/m"], ["relative", "/m"], ["/h", ""], ["/a", "/b", "/c"], ["/h", "/m", "-z"], ["/h", "/dev/fd/3"],
        ] { #expect(throws: QuireError.self) { _ = try MountHelper(wrong) } }
    }

    @Test("The command mounts quietly, names the home, and leaves out what only root may ask for")
    func command() throws {
        let command = try MountHelper(["/h", "/m", "-o", "rw,dev,suid,noatime"]).command()
        #expect(command.starts(with: ["mount", "--source", "/h", "/m", "--quiet", "-o"]))
        #expect(command.suffix(2) == ["--home", "/h"])
        #expect(command[6] == (geteuid() == 0 ? "rw,dev,suid,noatime" : "rw,noatime"))
        #expect(try MountHelper(["none", "/m", "-v"]).command() == ["mount", "--source", "none", "/m"])
        #expect(throws: QuireError.self) { _ = try MountHelper(["none", "/m", "-o", "setuid=no-such-user"]).command() }
    }

    @Test("Options of fstab are accepted: those for the kernel are kept, the later of two opposites counts")
    func options() throws {
        let request = try MountRequest(
            ["defaults,noauto,user,users,nofail,_netdev,x-systemd.automount,x-gvfs-show,comment=mine,user=ada"])
        #expect(try request == MountRequest())
        #expect(try MountRequest(["rw,dev,suid,ro,nosuid,noexec"]).kernel == ["dev", "ro", "nosuid", "noexec"])
        #expect(try MountRequest(["defaults,default_permissions"]).kernel == ["default_permissions"])
        #expect(try MountRequest(["noatime,atime,sync,async"]).kernel == ["atime", "async"])
        #expect(try MountRequest(["uid=1000,umask=022"]).ignored == ["uid=1000", "umask=022"])
        for wrong in ["remount", "users=3,frob", "readers", "roo"] {
            #expect(throws: QuireError.self) { _ = try MountRequest([wrong]) }
        }
    }

    @Test(
        "allow_other is an ordinary user's only where fuse.conf says so",
        .enabled(if: geteuid() != 0, "root may always"))
    func sharing() throws {
        let directory = try TemporaryDirectory()
        for (text, isAllowed) in [
            ("user_allow_other\n", true), ("  user_allow_other # yes\n", true), ("#user_allow_other\n", false),
            ("mount_max = 3\n", false), ("user_allow_others\n", false), ("", false),
        ] {
            try directory.write("fuse.conf", text)
            let refusal = Result { () throws(QuireError) in
                try FuseConfiguration.checkSharing(path: "\(directory.path)/fuse.conf")
            }
            #expect(((try? refusal.get()) != nil) == isAllowed, "\(text)")
        }
    }
}

@Suite("Service manager")
struct ServiceManagerTests {
    @Test("The socket and the watchdog's interval come from the environment, the latter only where it is meant for us")
    func environment() {
        func manager(_ variables: [String: String]) -> ServiceManager? {
            ServiceManager.fromEnvironment { variables[$0] }
        }
        #expect(manager([:]) == nil)
        #expect(manager(["NOTIFY_SOCKET": "relative"]) == nil)
        #expect(manager(["NOTIFY_SOCKET": "/run/n"])?.watchdogMicroseconds == nil)
        let mine = ["NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(getpid())"]
        #expect(manager(mine)?.watchdogMicroseconds == 3_000_000)
        #expect(manager(mine.merging(["WATCHDOG_PID": "1"]) { $1 })?.watchdogMicroseconds == nil)
        #expect(manager(mine.merging(["WATCHDOG_USEC": "often"]) { $1 })?.watchdogMicroseconds == nil)
    }

    @Test(
        "A message arrives whole at a socket with a path and at one in the abstract namespace",
        arguments: [true, false])
    func messages(isAbstract: Bool) throws {
        let directory = try TemporaryDirectory()
        let name = isAbstract ? "@quire-test-\(getpid())" : "\(directory.path)/notify"
        let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(receiver) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if isAbstract { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(2 + bytes.count + (isAbstract ? 0 : 1))
        let bound = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(receiver, $0, length) }
        }
        try #require(bound == 0)
        let manager = try #require(ServiceManager.fromEnvironment { $0 == "NOTIFY_SOCKET" ? name : nil })
        manager.notify("READY=1\nSTATUS=Your drive is at /m")
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = recv(receiver, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "READY=1\nSTATUS=Your drive is at /m")
    }

    @Test("Each line of the journal's log has its priority, and is one line")
    func journal() {
        let lines = Lock<[String]>([])
        var handler = JournalLogHandler()
        handler.write = { bytes in lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .debug
        logger.warning("two\nlines", metadata: ["b": "2", "a": "1"])
        logger.debug("detail")
        #expect(lines.withLock { $0 } == ["<4>two lines a=1 b=2\n", "<7>detail\n"])
    }
}
