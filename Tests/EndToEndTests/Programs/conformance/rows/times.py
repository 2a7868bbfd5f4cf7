"""utimensat(2), futimens(3), and which times reading and writing change."""
import os

import calls
from place import KINDS, NOT_LINKS
from table import Differs, expect, fails, row, works
from users import EVERYBODY, MEMBER, OWNER, ROOT, STRANGER

NOW, OMIT = (0, calls.UTIME_NOW), (0, calls.UTIME_OMIT)
# Seconds: before 1970, around the ends of 31 and 32 bits, and the last but one that ext4 keeps.
SECONDS = (1 - (1 << 31), -1, 0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 4_294_967_297, 15_032_385_534)
NANOSECONDS = (0, 1, 999, 100_000_000, 999_999_999)


def both(path):
    status = os.lstat(path)
    return status.st_atime_ns, status.st_mtime_ns


@row("utimensat", "of a {kind} to {seconds} s and {nanoseconds} ns",
     kind=KINDS, seconds=SECONDS, nanoseconds=NANOSECONDS,
     when=lambda kind, seconds, nanoseconds:
     kind in ("file", "directory", "symlink") or nanoseconds in (0, 999_999_999))
def values(at, kind, seconds, nanoseconds):
    path = at.make(kind)
    other = seconds - 1 if seconds > 0 else seconds
    works(calls.utimensat, path, (seconds, nanoseconds), (other, nanoseconds), calls.AT_SYMLINK_NOFOLLOW)
    expect(both(path), (seconds * 10 ** 9 + nanoseconds, other * 10 ** 9 + nanoseconds))


@row("utimensat", "of a {kind}: {which}", kind=KINDS, which=("both", "access only", "modification only", "neither"))
def omitted(at, kind, which):
    path = at.make(kind)
    before = os.lstat(path)
    yield
    access = (1, 2) if which in ("both", "access only") else OMIT
    modification = (3, 4) if which in ("both", "modification only") else OMIT
    works(calls.utimensat, path, access, modification, calls.AT_SYMLINK_NOFOLLOW)
    after = os.lstat(path)
    expect(after.st_atime_ns, 1_000_000_002 if access != OMIT else before.st_atime_ns, "atime")
    expect(after.st_mtime_ns, 3_000_000_004 if modification != OMIT else before.st_mtime_ns, "mtime")
    expect(after.st_ctime_ns > before.st_ctime_ns, which != "neither", "a later ctime")


@row("utimensat", "of a {kind}, UTIME_NOW for {which}", kind=KINDS, which=("both", "access", "modification"))
def now(at, kind, which):
    path = at.make(kind)
    calls.utimensat(path, (5, 0), (5, 0), calls.AT_SYMLINK_NOFOLLOW)
    before = os.lstat(path)
    yield
    access = NOW if which in ("both", "access") else (7, 0)
    modification = NOW if which in ("both", "modification") else (7, 0)
    works(calls.utimensat, path, access, modification, calls.AT_SYMLINK_NOFOLLOW)
    found = both(path)
    for one, given in zip(found, (access, modification)):
        expect(one > before.st_ctime_ns if given == NOW else one == 7 * 10 ** 9, True, "now, or as given")


# Who may: the owner and root anything; who may write, both to now (utimensat(2), ERRORS).
WISHES = {"both to now": (NOW, NOW), "given times": ((1, 0), (2, 0)), "access to now, the other given": (NOW, (2, 0)),
          "access to now, the other left": (NOW, OMIT), "modification to now, the other left": (OMIT, NOW),
          "neither": (OMIT, OMIT)}


@row("utimensat", "by {user} of a file with mode {mode:04o}: {wish}", user=EVERYBODY, mode=(0o666, 0o600, 0o444),
     wish=WISHES)
def callers(at, user, mode, wish):
    path = at.file(mode=mode, owner=OWNER)
    before = os.stat(path)
    may_write = mode == 0o666
    if user in (OWNER, ROOT) or wish == "neither":
        wanted = "OK"
    elif wish == "both to now":
        wanted = "OK" if may_write else "EACCES"
    else:
        wanted = "EPERM"
    yield
    with user:
        fails(wanted, calls.utimensat, path, *WISHES[wish])
    if wanted != "OK":
        expect(os.stat(path), before)


@row("utimensat", "with nanoseconds {nanoseconds}", nanoseconds=(-1, 10 ** 9, 1 << 30, -(1 << 40)))
def wrong_nanoseconds(at, nanoseconds):
    path = at.file()
    before = both(path)
    fails("EINVAL", calls.utimensat, path, (1, nanoseconds), (1, 0))
    fails("EINVAL", calls.utimensat, path, (1, 0), (1, nanoseconds))
    expect(both(path), before)


@row("utimensat", "with flags {flags:#x}", flags=(1, 0x200, 0x8000))
def wrong_flags(at, flags):
    fails("EINVAL", calls.utimensat, at.file(), (1, 0), (1, 0), flags)


@row("utimensat", "of a symlink, followed or not: {kind}", kind=NOT_LINKS)
def symlinks(at, kind):
    target = at.make(kind, "target")
    link = at.make("symlink", "l")
    works(calls.utimensat, link, (1, 0), (2, 0))
    expect(both(target), (10 ** 9, 2 * 10 ** 9))
    works(calls.utimensat, link, (3, 0), (4, 0), calls.AT_SYMLINK_NOFOLLOW)
    expect((both(target), both(link)), ((10 ** 9, 2 * 10 ** 9), (3 * 10 ** 9, 4 * 10 ** 9)))


@row("futimens", "of a {kind}", kind=("file", "directory", "fifo", "removed file"))
def by_descriptor(at, kind):
    path = at.make("file" if "file" in kind else kind)
    descriptor = at.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if kind == "removed file":
        os.unlink(path)
    works(os.utime, descriptor, ns=(12, 34))
    status = os.fstat(descriptor)
    expect((status.st_atime_ns, status.st_mtime_ns), (12, 34))


@row("times", "set, and kept by {act}", act=("chmod", "chown", "rename", "link", "open for writing", "read", "setxattr",
                                           "utimensat of the other", "fsync", "close of a writer that wrote nothing"))
def kept(at, act):
    path = at.file(content=b"x")
    moment = 1_000_000_000_123_456_789
    os.utime(path, ns=(moment, moment))
    descriptor = at.open(path)
    {"chmod": lambda: os.chmod(path, 0o600), "chown": lambda: os.chown(path, -1, os.getegid()),
     "rename": lambda: os.rename(path, at("y")), "link": lambda: os.link(path, at("y")),
     "open for writing": lambda: os.close(os.open(path, os.O_RDWR)), "read": lambda: os.pread(descriptor, 1, 0),
     "setxattr": lambda: os.setxattr(path, "user.a", b"1"), "fsync": lambda: os.fsync(descriptor),
     "utimensat of the other": lambda: calls.utimensat(path, (1, 1), OMIT),
     "close of a writer that wrote nothing": lambda: os.close(descriptor)}[act]()
    expect(os.stat(at("y") if act == "rename" else path).st_mtime_ns, moment)


WRITES = {
    "write": lambda path, descriptor: os.write(descriptor, b"n"),
    "pwrite": lambda path, descriptor: os.pwrite(descriptor, b"new", 1),
    "writev": lambda path, descriptor: os.writev(descriptor, [b"a", b"b"]),
    "append": lambda path, descriptor: os.pwrite(descriptor, b"x", 7),
    "ftruncate": lambda path, descriptor: os.ftruncate(descriptor, 2),
    "posix_fallocate past the end": lambda path, descriptor: os.posix_fallocate(descriptor, 0, 100),
}


@row("times", "{call}: mtime and ctime become now", call=WRITES)
def writing(at, call):
    path = at.file(content=b"content")
    descriptor = at.open(path)
    before = os.stat(path)
    yield
    works(WRITES[call], path, descriptor)
    for after in (os.fstat(descriptor), os.stat(path)):
        expect(after.st_mtime_ns > before.st_mtime_ns, True, "a later mtime")
        expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")
    during = os.stat(path).st_mtime_ns
    os.close(descriptor)
    expect(os.stat(path).st_mtime_ns, during, "mtime after close")


@row("times", "a write of nothing changes none")
def empty_write(at):
    path = at.file(content=b"content")
    before = os.stat(path)
    yield
    works(os.write, at.open(path), b"")
    expect(os.stat(path), before)


@row("times", "{what}: atime becomes later than mtime, where the mount keeps it",
     what=("read", "mmap", "readdir", "readlink"))
def access_time(at, what):
    path = at.make({"readdir": "directory", "readlink": "symlink"}.get(what, "file"), content=b"content")
    if what == "readdir":
        at.file("x/f")
    calls.utimensat(path, (1, 0), OMIT, calls.AT_SYMLINK_NOFOLLOW)
    yield
    if what == "read":
        os.read(at.open(path, os.O_RDONLY), 10)
    elif what == "mmap":
        import mmap
        descriptor = at.open(path, os.O_RDONLY)
        with mmap.mmap(descriptor, 7, prot=mmap.PROT_READ) as view:
            expect(view[:3], b"con")
        os.close(descriptor)
    else:
        os.listdir(path) if what == "readdir" else os.readlink(path)
    if os.statvfs(at.path).f_flag & (1024 | 2048):      # ST_NOATIME, ST_NODIRATIME
        return
    if what in ("read", "mmap") and os.lstat(path).st_atime_ns == 10 ** 9:
        raise Differs("what the kernel has in memory since it was written is read without the store's knowing")
    expect(os.lstat(path).st_atime_ns > 10 ** 9, True, "a later atime")


@row("times", "O_NOATIME reads without changing atime")
def no_access_time(at):
    path = at.file(content=b"content")
    os.utime(path, ns=(1, 2))
    yield
    os.read(at.open(path, os.O_RDONLY | os.O_NOATIME), 10)
    expect(os.stat(path).st_atime_ns, 1)


@row("times", "two changes, a tick between: ctime grows, by {user}", user=(OWNER, MEMBER, STRANGER))
def grows(at, user):
    path = at.file(owner=user)
    seen = [os.stat(path).st_ctime_ns]
    for mode in (0o600, 0o640, 0o644):
        yield
        with user:
            works(os.chmod, path, mode)
        seen.append(os.stat(path).st_ctime_ns)
    expect(seen, sorted(set(seen)))
