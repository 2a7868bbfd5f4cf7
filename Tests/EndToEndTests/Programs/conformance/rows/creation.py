"""What all calls that make a file have in common: open(O_CREAT), creat, mkdir, mkfifo, mknod, symlink."""
import os
import stat

import calls
from place import DEVICES, KINDS, TYPES, chown, make, need_root
from table import expect, fails, row, works
from users import EVERYBODY, MEMBER, OWNER, ROOT, STRANGER, SUPPLEMENTARY


def by_open(path, mode):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, mode))


MAKE = {
    "open": (by_open, "file"),
    "creat": (lambda path, mode: os.close(calls.creat(path, mode)), "file"),
    "mknod file": (lambda path, mode: os.mknod(path, stat.S_IFREG | mode), "file"),
    "mkdir": (os.mkdir, "directory"),
    "mkfifo": (os.mkfifo, "fifo"),
    "mknod fifo": (lambda path, mode: os.mknod(path, stat.S_IFIFO | mode), "fifo"),
    "mknod socket": (lambda path, mode: os.mknod(path, stat.S_IFSOCK | mode), "socket"),
    "mknod block device": (lambda path, mode: os.mknod(path, stat.S_IFBLK | mode, os.makedev(7, 77)), "block device"),
    "mknod character device": (
        lambda path, mode: os.mknod(path, stat.S_IFCHR | mode, os.makedev(300, 70000)), "character device"),
    "symlink": (lambda path, mode: os.symlink("target", path), "symlink"),
}
WITH_MODE = [name for name in MAKE if name != "symlink"]
UNPRIVILEGED = [name for name in MAKE if "device" not in name]


def need(call):
    if MAKE[call][1] in DEVICES:
        need_root()


@row("create", "{call} with mode {mode:04o} under umask {umask:04o}", call=WITH_MODE,
     mode=(0o0000, 0o0151, 0o0644, 0o0777, 0o1755, 0o2755, 0o4755), umask=(0o000, 0o022, 0o070, 0o151, 0o345, 0o777))
def umask(at, call, mode, umask):
    need(call)
    before = os.umask(umask)
    try:
        works(MAKE[call][0], at("x"), mode)
    finally:
        os.umask(before)
    # mkdir(2): only the permission bits and the sticky bit.
    wanted = mode & ~umask & (0o1777 if call == "mkdir" else 0o7777)
    expect(oct(os.lstat(at("x")).st_mode), oct(TYPES[MAKE[call][1]] | wanted), "st_mode")


@row("create", "{call}: what stat says", call=MAKE)
def attributes(at, call):
    need(call)
    works(MAKE[call][0], at("x"), 0o644)
    status = os.lstat(at("x"))
    kind = MAKE[call][1]
    expect(stat.S_IFMT(status.st_mode), TYPES[kind], "type")
    expect(status.st_nlink, {1, 2} if kind == "directory" else 1, "st_nlink")
    expect((status.st_uid, status.st_gid), (os.geteuid(), os.getegid()), "owner and group")
    if kind != "directory":
        expect(status.st_size, 6 if kind == "symlink" else 0, "st_size")
    if kind in DEVICES:
        wanted = (7, 77) if kind == "block device" else (300, 70000)
        expect((os.major(status.st_rdev), os.minor(status.st_rdev)), wanted)
    expect(os.listdir(at.path), ["x"], "listing")


@row("create", "{call} by {user}: owner and group", call=UNPRIVILEGED, user=EVERYBODY)
def owner(at, call, user):
    with user:
        works(MAKE[call][0], at("x"), 0o644)
    status = os.lstat(at("x"))
    expect((status.st_uid, status.st_gid), (user.uid, user.gid))


@row("create", "{call} by {user} in a setgid directory", call=UNPRIVILEGED, user=EVERYBODY)
def setgid_directory(at, call, user):
    chown(at.directory(), 4711, MEMBER.gid)
    os.chmod(at("d"), 0o2777)
    with user:
        works(MAKE[call][0], at("d/x"), 0o755)
    status = os.lstat(at("d/x"))
    expect((status.st_uid, status.st_gid), (user.uid, MEMBER.gid), "owner and group")
    if call != "symlink":
        expect(oct(stat.S_IMODE(status.st_mode)), "0o2755" if call == "mkdir" else "0o755", "mode")


@row("create", "{call} by {user} of a setgid file with mode {mode:04o} in a setgid directory", mode=(0o2755, 0o2745),
     call=("open", "mknod file"), user=(OWNER, SUPPLEMENTARY, STRANGER, ROOT))
def setgid_file(at, call, user, mode):
    chown(at.directory(), 4711, OWNER.gid)
    os.chmod(at("d"), 0o2777)
    with user:
        works(MAKE[call][0], at("d/x"), mode)
    # Who is not in the group may not make a file that lends it (inode_init_owner of Linux).
    lost = user is STRANGER and mode & 0o010
    expect(oct(stat.S_IMODE(os.lstat(at("d/x")).st_mode)), oct(mode & ~0o2000 if lost else mode), "mode")


@row("create", "{call}: the times of the new file are now", call=MAKE)
def new_times(at, call):
    need(call)
    before = os.lstat(at.path).st_ctime_ns
    yield
    works(MAKE[call][0], at("x"), 0o644)
    status = os.lstat(at("x"))
    for name in ("st_atime_ns", "st_mtime_ns", "st_ctime_ns"):
        expect(getattr(status, name) > before, True, f"a later {name}")


@row("create", "{call}: mtime and ctime of the directory become now", call=MAKE)
def parent_times(at, call):
    need(call)
    before = os.stat(at.path)
    yield
    works(MAKE[call][0], at("x"), 0o644)
    after = os.stat(at.path)
    expect(after.st_mtime_ns > before.st_mtime_ns, True, "a later mtime")
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")


@row("create", "{call} where a {kind} is", call=MAKE, kind=KINDS)
def exists(at, call, kind):
    need(call)
    path = at.make(kind)
    before, parent = os.lstat(path), os.stat(at.path)
    yield
    opens = call == "creat" and kind not in ("directory", "socket", "fifo") + DEVICES
    if call == "creat" and kind in ("fifo",) + DEVICES:
        return      # waits for a reader, or opens a driver
    wanted = "OK" if opens else {"directory": "EISDIR", "socket": "ENXIO"}[kind] if call == "creat" else "EEXIST"
    fails(wanted, MAKE[call][0], path, 0o600)
    if opens:
        return
    after, now = os.lstat(path), os.stat(at.path)
    expect((after.st_ino, after.st_mode, after.st_ctime_ns), (before.st_ino, before.st_mode, before.st_ctime_ns))
    expect((now.st_mtime_ns, now.st_ctime_ns), (parent.st_mtime_ns, parent.st_ctime_ns), "the directory's times")


@row("create", "{call} through a dangling symlink", call=MAKE)
def through_link(at, call):
    need(call)
    os.symlink("target", at("x"))
    fails("OK" if call == "creat" else "EEXIST", MAKE[call][0], at("x"), 0o644)
    expect(os.path.lexists(at("target")), call == "creat")


@row("create", "open(O_CREAT) through a dangling symlink makes its target")
def open_through_link(at):
    os.symlink("target", at("x"))
    works(os.close, works(os.open, at("x"), os.O_CREAT | os.O_WRONLY, 0o640))
    expect(oct(os.lstat(at("target")).st_mode), oct(stat.S_IFREG | 0o640))


@row("create", "{call} as “{name}”", call=MAKE, name=(".", "..", "d/.", "d/..", "/"))
def dots(at, call, name):
    need(call)
    at.directory()
    wanted = {"EISDIR"} if call == "creat" else {"EEXIST", "EISDIR"} if call == "open" else {"EEXIST"}
    fails(wanted, MAKE[call][0], name if name == "/" else at(name), 0o644)


@row("create", "{call}: the same name again after it was removed, {times} times", call=MAKE, times=(3,))
def again(at, call, times):
    need(call)
    for _ in range(times):
        works(MAKE[call][0], at("x"), 0o644)
        works(os.rmdir if call == "mkdir" else os.unlink, at("x"))
        fails("ENOENT", os.lstat, at("x"))


@row("create", "{call} in a directory that was removed", call=MAKE)
def removed_directory(at, call):
    need(call)
    at.directory()
    os.chdir(at("d"))
    at.after(os.chdir, "/")
    os.rmdir(at("d"))
    fails("ENOENT", MAKE[call][0], "x", 0o644)


@row("create", "mknod of a {kind} by {user}", kind=DEVICES, user=(OWNER, STRANGER))
def device_by_user(at, kind, user):
    with user:
        fails("EPERM", os.mknod, at("x"), TYPES[kind] | 0o644, os.makedev(1, 3))


@row("create", "mknod with the type {kind:o}", kind=(0o040000, 0o120000, 0o030000, 0o050000, 0o070000))
def wrong_type(at, kind):
    # A directory is not for mknod; the others are no types at all.
    fails({"EPERM", "EINVAL"}, os.mknod, at("x"), kind | 0o644)
    expect(os.listdir(at.path), [])


@row("create", "mknod without a type makes a file")
def no_type(at):
    works(os.mknod, at("x"), 0o640)
    expect(oct(os.lstat(at("x")).st_mode), oct(stat.S_IFREG | 0o640))


@row("create", "mknod of device {major}:{minor}", major=(0, 1, 255, 4095), minor=(0, 1, 255, 256, 1048575))
def device_numbers(at, major, minor):
    need_root()
    works(os.mknod, at("x"), stat.S_IFCHR | 0o600, os.makedev(major, minor))
    expect(os.lstat(at("x")).st_rdev, os.makedev(major, minor))


@row("create", "a {kind} under each of {count} names in one directory",
     kind=("file", "directory", "symlink"), count=(500,))
def many(at, kind, count):
    for number in range(count):
        make(kind, at(f"n{number}"))
    expect(sorted(os.listdir(at.path)), sorted(f"n{number}" for number in range(count)))


@row("create", "two who make the same file with O_EXCL: one does")
def exclusive(at):
    outcomes = []
    for _ in range(2):
        try:
            by_open(at("x"), 0o644)
            outcomes.append("made")
        except FileExistsError:
            outcomes.append("there")
    expect(outcomes, ["made", "there"])
