"""chown(2), lchown(2), fchown(2), fchownat(2)."""
import os
import stat

import calls
from place import KINDS, NOT_LINKS, need_root
from table import expect, fails, row, works
from users import EVERYBODY, MEMBER, OWNER, ROOT, STRANGER, SUPPLEMENTARY

WAYS = ("lchown", "fchownat", "AT_EMPTY_PATH")


def change(how, at, path, uid, gid):
    if how == "chown":
        os.chown(path, uid, gid)
    elif how == "fchown":
        os.fchown(at.open(path, os.O_RDONLY | os.O_NONBLOCK), uid, gid)
    elif how == "lchown":
        os.lchown(path, uid, gid)
    elif how == "fchownat":
        os.chown(os.path.basename(path), uid, gid, dir_fd=at.open(at.path, os.O_DIRECTORY), follow_symlinks=False)
    else:
        empty_path(at.open(path, os.O_PATH | os.O_NOFOLLOW), "", uid % (1 << 32), gid % (1 << 32), calls.AT_EMPTY_PATH)


empty_path = calls.function("fchownat", calls.integer, calls.path, calls.number, calls.number, calls.integer)


def owners(path):
    status = os.lstat(path)
    return status.st_uid, status.st_gid


@row("chown", "{how} of a {kind} by root to {uid}:{gid}", kind=KINDS, how=WAYS + ("chown",),
     uid=(-1, 0, 123, 65534, 2_000_000_000), gid=(-1, 0, 456, 2_000_000_001),
     when=lambda kind, how, uid, gid: kind != "symlink" or how != "chown")
def by_root(at, kind, how, uid, gid):
    path = at.make(kind, owner=OWNER)
    works(change, how, at, path, uid, gid)
    expect(owners(path), (OWNER.uid if uid == -1 else uid, OWNER.gid if gid == -1 else gid))


@row("chown", "fchown of a {kind}", kind=("file", "directory", "fifo"))
def by_descriptor(at, kind):
    path = at.make(kind, owner=OWNER)
    works(change, "fchown", at, path, 5, 6)
    expect(owners(path), (5, 6))


@row("chown", "of a {kind}: ctime becomes now, mtime stays", kind=KINDS)
def times(at, kind):
    path = at.make(kind, owner=OWNER)
    before = os.lstat(path)
    yield
    works(os.lchown, path, 7, 8)
    after = os.lstat(path)
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")
    expect(after.st_mtime_ns, before.st_mtime_ns, "mtime")


# Who asks, for which owner and group (-1: none), and whether it is allowed.
WISHES = {
    "its owner, its own group": (OWNER, -1, OWNER.gid, True),
    "its owner, nothing": (OWNER, -1, -1, True),
    "its owner, itself": (OWNER, OWNER.uid, -1, True),
    "its owner, itself and its own group": (OWNER, OWNER.uid, OWNER.gid, True),
    "its owner, a group it is not in": (OWNER, -1, 4711, False),
    "its owner, another user": (OWNER, 4711, -1, False),
    "its owner, root": (OWNER, 0, -1, False),
    "its owner, root's group": (OWNER, -1, 0, False),
    "its owner, itself and a group it is not in": (OWNER, OWNER.uid, 4711, False),
    "its owner, another user and its own group": (OWNER, 4711, OWNER.gid, False),
    "a member, itself": (MEMBER, MEMBER.uid, -1, False),
    "a member, its group": (MEMBER, -1, MEMBER.gid, False),
    "a stranger, itself": (STRANGER, STRANGER.uid, -1, False),
    "a stranger, its group": (STRANGER, -1, STRANGER.gid, False),
    "a stranger, the owner that it has": (STRANGER, OWNER.uid, -1, False),
    "a stranger, the group that it has": (STRANGER, -1, OWNER.gid, False),
    "root, anything": (ROOT, 4711, 4712, True),
}


@row("chown", "of a {kind}: {wish}", kind=KINDS, wish=WISHES)
def wishes(at, kind, wish):
    user, uid, gid, allowed = WISHES[wish]
    path = at.make(kind, owner=OWNER)
    before = os.lstat(path)
    yield
    with user:
        fails("OK" if allowed else "EPERM", os.lchown, path, uid, gid)
    after = os.lstat(path)
    wanted = (OWNER.uid if uid == -1 else uid, OWNER.gid if gid == -1 else gid) if allowed else (OWNER.uid, OWNER.gid)
    expect(owners(path), wanted, "owner and group")
    if not allowed:
        expect(after.st_ctime_ns, before.st_ctime_ns, "ctime")


@row("chown", "of a {kind} by its owner to a supplementary group", kind=KINDS)
def to_supplementary(at, kind):
    path = at.make(kind, owner=SUPPLEMENTARY)
    with SUPPLEMENTARY:
        works(os.lchown, path, -1, OWNER.gid)
        works(os.lchown, path, SUPPLEMENTARY.uid, 65530)
    expect(owners(path), (SUPPLEMENTARY.uid, 65530))


@row("chown", "of a {kind} with mode {mode:04o} by {user}", kind=NOT_LINKS, user=(OWNER, ROOT),
     mode=(0o4755, 0o2755, 0o6755, 0o6711, 0o0755, 0o1755, 0o2745))
def privileges(at, kind, mode, user):
    path = at.make(kind, mode=mode, owner=OWNER)
    with user:
        works(os.chown, path, OWNER.uid, OWNER.gid)
    # An executable file loses what would lend its new owner's rights; a directory's bits mean something else.
    lost = 0 if kind == "directory" else 0o4000 | (0o2000 if mode & 0o010 else 0)
    expect(oct(stat.S_IMODE(os.stat(path).st_mode)), oct(mode & ~lost), "mode")


@row("chown", "{how} of a symlink", how=("chown", "lchown"))
def symlinks(at, how):
    target, link = at.file("target", owner=OWNER), at.make("symlink", "x", owner=MEMBER)
    works(os.chown if how == "chown" else os.lchown, link, 9, 10)
    expect((owners(target), owners(link)),
           ((9, 10), (MEMBER.uid, MEMBER.gid)) if how == "chown" else ((OWNER.uid, OWNER.gid), (9, 10)))


@row("chown", "one name of a file with two: both show the owner")
def two_names(at):
    need_root()
    path = at.file()
    os.link(path, at("other"))
    works(os.chown, path, 9, 10)
    expect(owners(at("other")), (9, 10))


@row("chown", "fchown of a removed file")
def removed(at):
    need_root()
    descriptor = at.open(at.file())
    os.unlink(at("f"))
    works(os.fchown, descriptor, 9, 10)
    expect((os.fstat(descriptor).st_uid, os.fstat(descriptor).st_gid), (9, 10))


@row("chown", "fchown of an O_PATH descriptor")
def path_descriptor(at):
    fails("EBADF", os.fchown, at.open(at.file(), os.O_PATH), 1, 1)


@row("chown", "of a file takes effect on access at once, for {user}", user=EVERYBODY)
def access_follows(at, user):
    path = at.file(mode=0o600, owner=STRANGER)
    os.chown(path, user.uid, user.gid)
    with user:
        fails("OK", calls.access, path, os.R_OK | os.W_OK)
    os.chown(path, 4711, 4711)
    with user:
        fails("OK" if user is ROOT else "EACCES", calls.access, path, os.R_OK)
