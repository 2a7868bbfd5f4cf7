"""link(2), linkat(2)."""
import os

import calls
from place import KINDS, NOT_DIRECTORIES
from table import Differs, error_name, expect, fails, row, works
from users import EVERYBODY, OWNER, ROOT, STRANGER


def link(old, new):
    os.link(old, new, follow_symlinks=False)


@row("link", "to a {kind}: one file with two names", kind=NOT_DIRECTORIES)
def two_names(at, kind):
    path = at.make(kind)
    works(link, path, at("y"))
    one, other = os.lstat(path), os.lstat(at("y"))
    expect(one, other, "status of both names")
    expect(one.st_nlink, 2, "st_nlink")
    works(os.unlink, path)
    expect((os.lstat(at("y")).st_ino, os.lstat(at("y")).st_nlink), (one.st_ino, 1), "after one is gone")
    works(os.unlink, at("y"))
    expect(os.listdir(at.path), [])


@row("link", "to a {kind}: times of the file and of the directory", kind=NOT_DIRECTORIES)
def times(at, kind):
    path, directory = at.make(kind), at.directory()
    before, parent = os.lstat(path), os.stat(directory)
    yield
    works(link, path, at("d/y"))
    after, now = os.lstat(path), os.stat(directory)
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime of the file")
    expect(after.st_mtime_ns, before.st_mtime_ns, "mtime of the file")
    expect(now.st_mtime_ns > parent.st_mtime_ns, True, "a later mtime of the directory")
    expect(now.st_ctime_ns > parent.st_ctime_ns, True, "a later ctime of the directory")


@row("link", "a {old} where a {new} is", old=NOT_DIRECTORIES, new=KINDS)
def exists(at, old, new):
    path, other = at.make(old), at.make(new, "y")
    before = os.lstat(path), os.lstat(other), os.stat(at.path)
    yield
    fails("EEXIST", link, path, other)
    after = os.lstat(path), os.lstat(other), os.stat(at.path)
    expect([(one.st_nlink, one.st_mtime_ns, one.st_ctime_ns) for one in after],
           [(one.st_nlink, one.st_mtime_ns, one.st_ctime_ns) for one in before], "nothing changed")


@row("link", "to a directory, by {user}", user=(ROOT, OWNER))
def directory(at, user):
    at.directory(owner=user)
    with user:
        fails("EPERM", link, at("d"), at("x"))


@row("link", "to a symlink: {how}", how=("the link itself", "AT_SYMLINK_FOLLOW"))
def symlink(at, how):
    at.file("target")
    at.make("symlink", "x")
    flags = calls.AT_SYMLINK_FOLLOW if how.startswith("AT") else 0
    works(calls.linkat, -100, at("x"), -100, at("y"), flags)
    expect(os.lstat(at("y")).st_ino, os.lstat(at("target" if flags else "x")).st_ino)


@row("link", "through a descriptor: {how}", how=("AT_EMPTY_PATH", "/proc/self/fd"))
def descriptor(at, how):
    opened = at.open(at.file())
    if how == "AT_EMPTY_PATH":
        works(calls.linkat, opened, "", -100, at("y"), calls.AT_EMPTY_PATH)
    else:
        works(calls.linkat, -100, f"/proc/self/fd/{opened}", -100, at("y"), calls.AT_SYMLINK_FOLLOW)
    expect(os.fstat(opened).st_nlink, 2)


@row("link", "of a removed file through its descriptor")
def removed(at):
    opened = at.open(at.file())
    os.unlink(at("f"))
    fails("ENOENT", calls.linkat, -100, f"/proc/self/fd/{opened}", -100, at("y"), calls.AT_SYMLINK_FOLLOW)
    expect(os.listdir(at.path), [])


@row("link", "{count} names of one file", count=(3, 50))
def many(at, count):
    path = at.file(content=b"x")
    for number in range(1, count):
        works(link, at("f") if number == 1 else at(f"n{number - 1}"), at(f"n{number}"))
        expect(os.stat(path).st_nlink, number + 1)
    expect(len({os.stat(at(name)).st_ino for name in os.listdir(at.path)}), 1)
    for number in range(1, count):
        works(os.unlink, at(f"n{number}"))
        expect(os.stat(path).st_nlink, count - number)


@row("link", "what is written under one name is read under the other")
def content(at):
    link(at.file(content=b"old"), at("y"))
    with open(at("y"), "r+b") as file:
        file.write(b"new content")
    with open(at("f"), "rb") as file:
        expect(file.read(), b"new content")
    expect(os.stat(at("f")).st_size, 11)
    os.truncate(at("f"), 3)
    expect(os.stat(at("y")).st_size, 3)


@row("link", "to another file system")
def other_file_system(at):
    here = os.stat(at.path).st_dev
    other = next(path for path in ("/dev/shm", "/tmp", "/run") if os.stat(path).st_dev != here)
    fails("EXDEV", link, at.file(), f"{other}/{os.getpid()}")


@row("link", "by {user} to a file of another that it {may}",
     user=EVERYBODY, may=("may read and write", "may not write"))
def of_another(at, user, may):
    path = at.file(mode=0o666 if may == "may read and write" else 0o600, owner=OWNER)
    with open("/proc/sys/fs/protected_hardlinks") as setting:
        protected = setting.read().strip() == "1"
    free = not protected or user in (OWNER, ROOT) or may == "may read and write"
    with user:
        fails("OK" if free else "EPERM", link, path, at("y"))


@row("link", "by a stranger leaves owner and mode")
def keeps_owner(at):
    path = at.file(mode=0o666, owner=OWNER)
    with STRANGER:
        works(link, path, at("y"))
    expect((os.stat(at("y")).st_uid, os.stat(at("y")).st_gid), (OWNER.uid, OWNER.gid))


@row("link", "with flags {flags:#x}", flags=(1, 0x100, 0x8000))
def wrong_flags(at, flags):
    fails("EINVAL", calls.linkat, -100, at.file(), -100, at("y"), flags)


# A file without a name, O_TMPFILE.
@row("O_TMPFILE", "by {user}", user=EVERYBODY)
def nameless_owner(at, user):
    with user:
        opened = at.open(at.path, os.O_TMPFILE | os.O_WRONLY, 0o4755)
        calls.linkat(-100, f"/proc/self/fd/{opened}", -100, at("y"), calls.AT_SYMLINK_FOLLOW)
    status = os.stat(at("y"))
    expect((status.st_uid, status.st_gid, oct(status.st_mode)), (user.uid, user.gid, "0o104755"))


@row("O_TMPFILE", "linked, written on, closed: what is read afterwards")
def nameless_written(at):
    opened = at.open(at.path, os.O_TMPFILE | os.O_RDWR)
    os.write(opened, b"before")
    works(calls.linkat, -100, f"/proc/self/fd/{opened}", -100, at("y"), calls.AT_SYMLINK_FOLLOW)
    os.write(opened, b" and after")
    os.close(opened)
    with open(at("y"), "rb") as file:
        expect(file.read(), b"before and after")
    expect(os.listdir(at.path), ["y"])


@row("O_TMPFILE", "{act}", act=("writes and reads", "is in no listing", "gets a name", "gets none with O_EXCL",
                              "needs a writer", "of another kind than a directory"))
def nameless(at, act):
    flags = os.O_TMPFILE | os.O_RDWR
    if act == "needs a writer":
        return fails("EINVAL", at.open, at.path, os.O_TMPFILE | os.O_RDONLY)
    if act == "of another kind than a directory":
        return fails("ENOTDIR", at.open, at.file(), flags)
    try:
        opened = at.open(at.path, flags | (os.O_EXCL if "O_EXCL" in act else 0), 0o640)
    except OSError as error:
        expect(error_name(error), "EOPNOTSUPP")
        raise Differs("this file system has no files without a name") from None
    expect((os.fstat(opened).st_nlink, oct(os.fstat(opened).st_mode)), (0, "0o100640"))
    works(os.pwrite, opened, b"content", 0)
    expect(works(os.pread, opened, 10, 0), b"content")
    expect(os.listdir(at.path), [])
    if act.startswith("gets"):
        fails("ENOENT" if "O_EXCL" in act else "OK", calls.linkat, -100, f"/proc/self/fd/{opened}", -100, at("y"),
              calls.AT_SYMLINK_FOLLOW)
    if act == "gets a name":
        with open(at("y"), "rb") as file:
            expect(file.read(), b"content")
        expect(os.stat(at("y")).st_nlink, 1)
        expect(os.stat(at("y")).st_ino, os.fstat(opened).st_ino)
