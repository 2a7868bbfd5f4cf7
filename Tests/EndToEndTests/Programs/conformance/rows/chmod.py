"""chmod(2), fchmod(2), fchmodat2(2)."""
import os
import stat

import calls
from place import KINDS, NOT_LINKS
from table import expect, fails, row, works
from users import EVERYBODY, MEMBER, OWNER, ROOT, STRANGER, SUPPLEMENTARY

MODES = (0o0000, 0o0001, 0o0010, 0o0100, 0o0111, 0o0222, 0o0444, 0o0600, 0o0644, 0o0755, 0o0777, 0o1777, 0o2755,
         0o4755, 0o6777, 0o7777)


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def change(how, at, path, mode):
    """Each way of changing a mode."""
    if how == "chmod":
        os.chmod(path, mode)
    elif how == "fchmod":
        os.fchmod(at.open(path, os.O_RDONLY | os.O_NONBLOCK), mode)
    elif how == "fchmodat":
        os.chmod(os.path.basename(path), mode, dir_fd=at.open(at.path, os.O_DIRECTORY))
    elif how == "a symlink":
        os.symlink(path, at("link"))
        os.chmod(at("link"), mode)
    else:
        os.chmod(f"/proc/self/fd/{at.open(path, os.O_PATH)}", mode)


@row("chmod", "{how} of a {kind} to {mode:04o}", kind=NOT_LINKS, mode=MODES,
     how=("chmod", "fchmod", "fchmodat", "a symlink", "/proc/self/fd"),
     when=lambda kind, mode, how: how == "chmod" or how != "fchmod" and mode in (0o0111, 0o7777)
     or kind in ("file", "directory") and mode in (0o0, 0o4755))
def sets(at, kind, mode, how):
    path = at.make(kind)
    before = os.lstat(path)
    works(change, how, at, path, mode)
    after = os.lstat(path)
    expect(oct(after.st_mode), oct(stat.S_IFMT(before.st_mode) | mode), "st_mode")
    expect((after.st_ino, after.st_nlink, after.st_uid, after.st_gid, after.st_size),
           (before.st_ino, before.st_nlink, before.st_uid, before.st_gid, before.st_size), "everything else")


@row("chmod", "of a {kind}: ctime becomes now, mtime and atime stay", kind=NOT_LINKS)
def times(at, kind):
    path = at.make(kind)
    before = os.stat(path)
    yield
    works(os.chmod, path, 0o600)
    after = os.stat(path)
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")
    expect((after.st_mtime_ns, after.st_atime_ns), (before.st_mtime_ns, before.st_atime_ns), "mtime and atime")


@row("chmod", "of a {kind} to the mode that it has: ctime becomes now", kind=NOT_LINKS)
def same_mode(at, kind):
    path = at.make(kind)
    before = os.stat(path)
    yield
    works(os.chmod, path, mode_of(path))
    expect(os.stat(path).st_ctime_ns > before.st_ctime_ns, True, "a later ctime")


@row("chmod", "by {user}: a {kind}", kind=NOT_LINKS, user=EVERYBODY)
def callers(at, kind, user):
    path = at.make(kind, mode=0o777, owner=OWNER)
    allowed = user in (OWNER, ROOT)
    before = os.stat(path)
    yield
    with user:
        fails("OK" if allowed else "EPERM", os.chmod, path, 0o640)
    after = os.stat(path)
    expect(oct(mode_of(path)), oct(0o640 if allowed else 0o777), "mode")
    expect(after.st_ctime_ns > before.st_ctime_ns, allowed, "a later ctime")


@row("chmod", "{bit} of a {kind} of group {group}, by {user}", kind=NOT_LINKS,
     bit=("setuid", "setgid", "sticky"), group=("its owner's", "another"),
     user=(OWNER, ROOT))
def special_bits(at, kind, bit, group, user):
    path = at.make(kind, owner=OWNER)
    if group == "another":
        os.chown(path, -1, STRANGER.gid)
    mode = {"setuid": 0o4755, "setgid": 0o2755, "sticky": 0o1755}[bit]
    with user:
        works(os.chmod, path, mode)
    lost = bit == "setgid" and group == "another" and user is OWNER
    expect(oct(mode_of(path)), oct(0o755 if lost else mode), "mode")


@row("chmod", "setgid by an owner who has the group only as a supplementary one, a {kind}", kind=NOT_LINKS)
def supplementary(at, kind):
    path = at.make(kind, owner=SUPPLEMENTARY)
    os.chown(path, -1, OWNER.gid)
    with SUPPLEMENTARY:
        works(os.chmod, path, 0o2755)
    expect(oct(mode_of(path)), "0o2755", "mode")


@row("chmod", "fchmodat2 with AT_SYMLINK_NOFOLLOW: a {kind}", kind=KINDS)
def no_follow(at, kind):
    path = at.make(kind)
    fails("EOPNOTSUPP" if kind == "symlink" else {"OK", "ENOSYS"}, calls.fchmodat2, path, 0o600,
          calls.AT_SYMLINK_NOFOLLOW)


@row("chmod", "of a symlink changes what it leads to and not the link, {kind}", kind=NOT_LINKS)
def through_link(at, kind):
    path = at.make(kind)
    os.symlink("x", at("link"))
    link = os.lstat(at("link"))
    works(os.chmod, at("link"), 0o611)
    expect(oct(mode_of(path)), "0o611")
    expect(os.lstat(at("link")).st_mode, link.st_mode)


@row("chmod", "one name of a file with two: both show the mode")
def two_names(at):
    path = at.file()
    os.link(path, at("other"))
    works(os.chmod, path, 0o611)
    expect(oct(mode_of(at("other"))), "0o611")


@row("chmod", "fchmod of a removed file")
def removed(at):
    descriptor = at.open(at.file())
    os.unlink(at("f"))
    works(os.fchmod, descriptor, 0o4711)
    expect(oct(stat.S_IMODE(os.fstat(descriptor).st_mode)), "0o4711")


@row("chmod", "fchmod of an O_PATH descriptor")
def path_descriptor(at):
    fails("EBADF", os.fchmod, at.open(at.file(), os.O_PATH), 0o600)


@row("chmod", "fchmod of a closed descriptor")
def closed(at):
    del at
    fails("EBADF", os.fchmod, 99999, 0o600)


WRITES = {
    "write": lambda path, descriptor: os.write(descriptor, b"new"),
    "pwrite": lambda path, descriptor: os.pwrite(descriptor, b"new", 100),
    "truncate": lambda path, descriptor: os.truncate(path, 3),
    "ftruncate": lambda path, descriptor: os.ftruncate(descriptor, 3),
    "open(O_TRUNC)": lambda path, descriptor: os.close(os.open(path, os.O_WRONLY | os.O_TRUNC)),
    "writev": lambda path, descriptor: os.writev(descriptor, [b"a", b"b"]),
}


@row("chmod", "mode {mode:04o} after {call} by {user}", call=WRITES, user=(OWNER, MEMBER, STRANGER, ROOT),
     mode=(0o4777, 0o2777, 0o6777, 0o4666, 0o0777, 0o1777))
def written_to(at, call, user, mode):
    path = at.file(content=b"content", mode=mode, owner=OWNER)
    with user:
        descriptor = at.open(path)
        works(WRITES[call], path, descriptor)
    # setgid without the group's x is no privilege, and stays or goes as the file system likes.
    kept = mode if user is ROOT else mode & ~0o6000
    expect(oct(mode_of(path)), oct(kept), "mode")
    expect(oct(stat.S_IMODE(os.fstat(descriptor).st_mode)), oct(kept), "mode by fstat")


@row("chmod", "mode {mode:04o} after a write that writes nothing", mode=(0o4777, 0o6777))
def empty_write(at, mode):
    path = at.file(mode=mode, owner=OWNER)
    with STRANGER:
        works(os.write, at.open(path), b"")
    expect(oct(mode_of(path)), oct(mode), "mode")


@row("chmod", "to 0000 and back, {times} times", times=(3, 50))
def often(at, times):
    path = at.file()
    for number in range(times):
        mode = number * 73 % 0o1000
        works(os.chmod, path, mode)
        expect(oct(mode_of(path)), oct(mode))


@row("chmod", "a directory without any right: root lists it, {user} does not", user=(OWNER, MEMBER, STRANGER))
def closed_directory(at, user):
    at.directory(mode=0, owner=OWNER)
    at.file("d/f")
    expect(works(os.listdir, at("d")), ["f"])
    with user:
        fails("EACCES", os.listdir, at("d"))
