"""Who may do what: the class of the caller alone decides (POSIX, 4.7 File Access Permissions)."""
import os
import stat

import calls
from place import KINDS, give
from table import fails, row
from users import EVERYBODY, OWNER, ROOT, STRANGER, bits, exclusive

READ, WRITE, SEARCH = 4, 2, 1


def opened(path, flags):
    os.close(os.open(path, flags | os.O_NONBLOCK))


# What is done in a directory, and the bits that it takes.
IN_DIRECTORY = {
    "create a file": (lambda d: opened(f"{d}/new", os.O_CREAT | os.O_WRONLY), WRITE | SEARCH),
    "mkdir": (lambda d: os.mkdir(f"{d}/new"), WRITE | SEARCH),
    "mkfifo": (lambda d: os.mkfifo(f"{d}/new"), WRITE | SEARCH),
    "mknod a socket": (lambda d: os.mknod(f"{d}/new", stat.S_IFSOCK), WRITE | SEARCH),
    "symlink": (lambda d: os.symlink("to", f"{d}/new"), WRITE | SEARCH),
    "link": (lambda d: os.link(f"{d}/../own", f"{d}/new"), WRITE | SEARCH),
    "unlink": (lambda d: os.unlink(f"{d}/file"), WRITE | SEARCH),
    "rmdir": (lambda d: os.rmdir(f"{d}/empty"), WRITE | SEARCH),
    "rename within": (lambda d: os.rename(f"{d}/file", f"{d}/new"), WRITE | SEARCH),
    "rename from": (lambda d: os.rename(f"{d}/file", f"{d}/../new"), WRITE | SEARCH),
    "rename to": (lambda d: os.rename(f"{d}/../own", f"{d}/new"), WRITE | SEARCH),
    "rename over": (lambda d: os.rename(f"{d}/../own", f"{d}/file"), WRITE | SEARCH),
    "renameat2(EXCHANGE)": (lambda d: calls.renameat2(f"{d}/../own", f"{d}/file", calls.EXCHANGE), WRITE | SEARCH),
    "list": (lambda d: os.listdir(d), READ),
    "stat inside": (lambda d: os.stat(f"{d}/file"), SEARCH),
    "readlink inside": (lambda d: os.readlink(f"{d}/link"), SEARCH),
    "open a file inside": (lambda d: opened(f"{d}/file", os.O_RDWR), SEARCH),
    "chdir": (lambda d: [os.chdir(d), os.chdir("/")], SEARCH),
    "getxattr": (lambda d: os.getxattr(d, "user.a"), READ),
    "setxattr": (lambda d: os.setxattr(d, "user.b", b""), WRITE),
    "utimensat(now)": (os.utime, WRITE),
}


@row("permissions", "{user}, a directory whose mode gives it {granted:03b}: {act}", act=IN_DIRECTORY, user=EVERYBODY,
     granted=range(8))
def in_directory(at, act, user, granted):
    at.file("own", owner=user)
    at.directory(mode=0o777)
    at.file("d/file", mode=0o666, owner=user)
    at.directory("d/empty", mode=0o777, owner=user)
    os.symlink("to", at("d/link"))
    os.setxattr(at("d"), "user.a", b"1")
    give(at("d"), OWNER)
    os.chmod(at("d"), exclusive(user, granted))
    call, needed = IN_DIRECTORY[act]
    # An owner may set the times whatever the mode.
    allowed = user is ROOT or granted & needed == needed or user is OWNER and act == "utimensat(now)"
    with user:
        fails("OK" if allowed else "EACCES", call, at("d"))


ON_FILE = {
    "open(O_RDONLY)": (lambda path: opened(path, os.O_RDONLY), READ),
    "open(O_WRONLY)": (lambda path: opened(path, os.O_WRONLY), WRITE),
    "open(O_RDWR)": (lambda path: opened(path, os.O_RDWR), READ | WRITE),
    "open(O_RDONLY|O_TRUNC)": (lambda path: opened(path, os.O_RDONLY | os.O_TRUNC), READ | WRITE),
    "open(O_WRONLY|O_APPEND)": (lambda path: opened(path, os.O_WRONLY | os.O_APPEND), WRITE),
    "open(O_CREAT|O_WRONLY)": (lambda path: opened(path, os.O_CREAT | os.O_WRONLY), WRITE),
    "truncate": (lambda path: os.truncate(path, 1), WRITE),
    "access(R_OK)": (lambda path: calls.access(path, os.R_OK), READ),
    "access(W_OK)": (lambda path: calls.access(path, os.W_OK), WRITE),
    "access(X_OK)": (lambda path: calls.access(path, os.X_OK), SEARCH),
    "access(R_OK|W_OK|X_OK)": (lambda path: calls.access(path, 7), 7),
    "faccessat2(AT_EACCESS)": (lambda path: calls.faccess(path, os.R_OK, calls.AT_EACCESS), READ),
    "getxattr": (lambda path: os.getxattr(path, "user.a"), READ),
    "setxattr": (lambda path: os.setxattr(path, "user.b", b""), WRITE),
    "removexattr": (lambda path: os.removexattr(path, "user.a"), WRITE),
    "utimensat(now)": (os.utime, WRITE),
}


@row("permissions", "{user}, a file whose mode gives it {granted:03b}: {act}", act=ON_FILE, user=EVERYBODY,
     granted=range(8))
def on_file(at, act, user, granted):
    path = at.file(content=b"content")
    os.setxattr(path, "user.a", b"1")
    give(path, OWNER)
    os.chmod(path, exclusive(user, granted))
    call, needed = ON_FILE[act]
    allowed = granted & needed == needed or user is OWNER and act == "utimensat(now)"
    if user is ROOT:    # may everything but execute what nobody may execute
        allowed = not needed & SEARCH or exclusive(user, granted) & 0o111 != 0
    with user:
        fails("OK" if allowed else "EACCES", call, path)


@row("permissions", "{user}, a fifo whose mode gives it {granted:03b}: open(O_RDWR)", user=EVERYBODY, granted=range(8))
def on_fifo(at, user, granted):
    path = at.make("fifo", mode=exclusive(user, granted), owner=OWNER)
    with user:
        fails("OK" if user is ROOT or granted & 6 == 6 else "EACCES", opened, path, os.O_RDWR)


@row("permissions", "access of root to a {kind} that nobody may execute", kind=[k for k in KINDS if k != "symlink"])
def root_executes(at, kind):
    path = at.make(kind, mode=0o666)
    with ROOT:
        fails("OK" if kind == "directory" else "EACCES", calls.access, path, os.X_OK)


@row("permissions", "access by {user} with mode {mode:04o} and the wish {wish:03b}", user=EVERYBODY,
     mode=(0o000, 0o124, 0o241, 0o412, 0o765, 0o657, 0o576), wish=range(8))
def access(at, user, mode, wish):
    path = at.make("directory", mode=mode, owner=OWNER)
    allowed = user is ROOT or bits(user, mode) & wish == wish
    with user:
        fails("OK" if allowed else "EACCES", calls.access, path, wish)


@row("permissions", "a mode that changes takes effect at once, for {act}", act=("search", "read", "write"))
def revoked(at, act):
    at.directory(mode=0o777)
    at.file("d/f", b"x", 0o666)
    call, where, mode = {
        "search": (os.stat, "d/f", 0o666), "read": (lambda path: opened(path, os.O_RDONLY), "d/f", 0o222),
        "write": (lambda path: os.truncate(path, 0), "d/f", 0o444)}[act]
    with STRANGER:
        fails("OK", call, at(where))
    target = at("d") if act == "search" else at("d/f")
    os.chmod(target, mode)
    with STRANGER:
        fails("EACCES", call, at(where))
    os.chmod(target, 0o777)
    with STRANGER:
        fails("OK", call, at(where))


@row("permissions", "a descriptor opened before a chmod to 0000 still {act}", act=("reads", "writes", "truncates"))
def descriptor_lasts(at, act):
    path = at.file(content=b"x", mode=0o666)
    with STRANGER:
        descriptor = at.open(path)
    os.chmod(path, 0)
    with STRANGER:
        call = {"reads": lambda: os.pread(descriptor, 1, 0), "writes": lambda: os.pwrite(descriptor, b"y", 0),
                "truncates": lambda: os.ftruncate(descriptor, 0)}[act]
        fails("OK", call)
