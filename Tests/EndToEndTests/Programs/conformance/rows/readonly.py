"""EROFS: every call that changes something, through a mount that is read-only."""
import os
import stat

import calls
from place import KINDS, NOT_LINKS, need_root, remove
from table import expect, fails, row, works


def view(at):
    """The row's place, read-only, at another path."""
    need_root()
    os.mkdir(at.path + "-ro")
    calls.mount(at.path, at.path + "-ro", "", calls.MS_BIND, None)
    at.after(calls.umount2, at.path + "-ro", 2)
    calls.mount("", at.path + "-ro", "", calls.MS_BIND | calls.MS_REMOUNT | calls.MS_RDONLY, None)
    return at.path + "-ro/"


CHANGES = {
    "chmod": lambda path: os.chmod(path, 0o600), "chown": lambda path: os.chown(path, 1, 1),
    "lchown": lambda path: os.lchown(path, 1, 1), "utimensat": os.utime,
    "link from": lambda path: os.link(path, path + "2"), "rename from": lambda path: os.rename(path, path + "2"),
    "rename over": lambda path: os.rename(path, path),
}
MAKING = {
    "open(O_CREAT)": lambda path: os.open(path, os.O_CREAT | os.O_WRONLY), "mkdir": os.mkdir, "mkfifo": os.mkfifo,
    "mknod": lambda path: os.mknod(path, stat.S_IFREG), "symlink": lambda path: os.symlink("x", path),
    "creat": lambda path: calls.creat(path, 0o644),
}


@row("read-only", "{call} of a {kind}", call=CHANGES, kind=NOT_LINKS,
     when=lambda call, kind: kind != "directory" or call not in ("link from",))
def changes(at, call, kind):
    at.make(kind)
    fails("EROFS", CHANGES[call], view(at) + "x")


@row("read-only", "removing a {kind}", kind=KINDS)
def removal(at, kind):
    at.make(kind)
    fails("EROFS", remove, kind, view(at) + "x")


@row("read-only", "{call}", call=MAKING)
def making(at, call):
    fails("EROFS", MAKING[call], view(at) + "x")


@row("read-only", "{call} where a {kind} is", call=[call for call in MAKING if call not in ("open(O_CREAT)", "creat")],
     kind=KINDS)
def exists(at, call, kind):
    at.make(kind)
    fails("EEXIST", MAKING[call], view(at) + "x")


@row("read-only", "a file: {call}", call=("open(O_WRONLY)", "open(O_RDWR)", "open(O_TRUNC)", "truncate", "setxattr",
                                        "removexattr", "access(W_OK)"))
def files(at, call):
    os.setxattr(at.file("x", b"content"), "user.a", b"v")
    path = view(at) + "x"
    fails("EROFS", {
        "open(O_WRONLY)": lambda: os.open(path, os.O_WRONLY), "open(O_RDWR)": lambda: os.open(path, os.O_RDWR),
        "open(O_TRUNC)": lambda: os.open(path, os.O_RDONLY | os.O_TRUNC), "truncate": lambda: os.truncate(path, 0),
        "setxattr": lambda: os.setxattr(path, "user.a", b""), "removexattr": lambda: os.removexattr(path, "user.a"),
        "access(W_OK)": lambda: calls.access(path, os.W_OK)}[call])


@row("read-only", "everything can be read: a {kind}", kind=KINDS)
def reading(at, kind):
    at.make(kind)
    path = view(at)
    works(os.lstat, path + "x")
    expect(os.listdir(path), ["x"])
    if kind == "file":
        works(os.close, works(os.open, path + "x", os.O_RDONLY))
