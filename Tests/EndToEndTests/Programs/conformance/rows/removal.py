"""unlink(2), unlinkat(2), rmdir(2)."""
import os

import calls
from place import KINDS, NOT_DIRECTORIES, remove
from table import expect, fails, row, works
from users import OWNER, ROOT

unlinkat = calls.function("unlinkat", calls.integer, calls.path, calls.integer)


@row("remove", "a {kind}", kind=KINDS)
def plain(at, kind):
    path = at.make(kind)
    works(remove, kind, path)
    fails("ENOENT", os.lstat, path)
    fails("ENOENT", remove, kind, path)
    expect(os.listdir(at.path), [])


@row("remove", "a {kind}: mtime and ctime of its directory", kind=KINDS)
def times(at, kind):
    path = at.make(kind)
    before = os.stat(at.path)
    yield
    works(remove, kind, path)
    after = os.stat(at.path)
    expect(after.st_mtime_ns > before.st_mtime_ns, True, "a later mtime")
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")


@row("unlink", "of a directory, by {user}", user=(OWNER, ROOT))
def directory(at, user):
    at.directory(owner=user)
    with user:
        fails({"EISDIR", "EPERM"}, os.unlink, at("d"))
    works(os.stat, at("d"))


@row("rmdir", "of a {kind}", kind=NOT_DIRECTORIES)
def not_a_directory(at, kind):
    before = os.lstat(at.make(kind))
    parent = os.stat(at.path)
    yield
    fails("ENOTDIR", os.rmdir, at("x"))
    expect(os.lstat(at("x")), before)
    expect(os.stat(at.path).st_mtime_ns, parent.st_mtime_ns)


@row("rmdir", "of a directory that holds a {kind}", kind=KINDS)
def not_empty(at, kind):
    at.directory()
    at.make(kind, "d/x")
    before = os.stat(at.path), os.stat(at("d"))
    yield
    fails({"ENOTEMPTY", "EEXIST"}, os.rmdir, at("d"))
    after = os.stat(at.path), os.stat(at("d"))
    expect([(one.st_mtime_ns, one.st_ctime_ns) for one in after],
           [(one.st_mtime_ns, one.st_ctime_ns) for one in before], "times")
    works(remove, kind, at("d/x"))
    works(os.rmdir, at("d"))


@row("rmdir", "of “{name}”", name=("d/.", "d/..", "d/e/..", "l/."))
def dots(at, name):
    os.makedirs(at("d/e"))
    os.symlink("d/e", at("l"))
    fails("EINVAL" if name.endswith("/.") else {"ENOTEMPTY", "EEXIST"}, os.rmdir, at(name))


@row("rmdir", "of a symlink to a directory, with a trailing slash")
def symlink_slash(at):
    at.directory()
    os.symlink("d", at("l"))
    fails("ENOTDIR", os.rmdir, at("l/"))
    works(os.rmdir, at("d/"))


@row("rmdir", "lowers the link count of its parent")
def link_count(at):
    before = os.stat(at.path).st_nlink
    at.directory()
    during = os.stat(at.path).st_nlink
    works(os.rmdir, at("d"))
    expect(os.stat(at.path).st_nlink, before)
    expect(during - before, {0, 1})


@row("mkdir", "{count} directories: the link count of their parent", count=(1, 5, 100))
def child_count(at, count):
    before = os.stat(at.path).st_nlink
    for number in range(count):
        works(os.mkdir, at(str(number)))
    expect(os.stat(at.path).st_nlink, {before + count, 1})
    for number in range(count):
        works(os.rmdir, at(str(number)))
    expect(os.stat(at.path).st_nlink, before)


@row("unlinkat", "a {kind} with flags {flags:#x}", kind=("file", "directory"), flags=(0, 0x200, 0x100, 1))
def flags(at, kind, flags):
    path = at.make(kind)
    wanted = "EINVAL" if flags & ~0x200 else "OK" if (kind == "directory") == bool(flags) else (
        {"EISDIR", "EPERM"} if kind == "directory" else "ENOTDIR")
    fails(wanted, unlinkat, -100, path, flags)


@row("unlink", "one of two names of a {kind}: link count and ctime of the other", kind=NOT_DIRECTORIES)
def other_name(at, kind):
    path = at.make(kind)
    os.link(path, at("y"), follow_symlinks=False)
    before = os.lstat(path)
    yield
    works(os.unlink, at("y"))
    after = os.lstat(path)
    expect(after.st_nlink, 1)
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")
    expect(after.st_mtime_ns, before.st_mtime_ns, "mtime")


@row("unlink", "of a symlink leaves what it leads to")
def symlink(at):
    at.file("target")
    works(os.unlink, at.make("symlink", "x"))
    works(os.stat, at("target"))


@row("unlink", "an open file: {act}",
     act=("read", "write", "truncate", "fstat", "fchmod", "fsync", "fallocate", "utime",
                                         "xattr", "lseek", "mmap", "a new file under its name"))
def open_file(at, act):
    import mmap
    descriptor = at.open(at.file(content=b"content"))
    inode = os.fstat(descriptor).st_ino
    works(os.unlink, at("f"))
    expect((os.fstat(descriptor).st_nlink, os.fstat(descriptor).st_ino), (0, inode), "st_nlink, st_ino")
    expect(os.listdir(at.path), [], "listing")
    if act == "read":
        expect(works(os.pread, descriptor, 10, 0), b"content")
    elif act == "write":
        works(os.pwrite, descriptor, b"more", 7)
        expect(os.fstat(descriptor).st_size, 11)
    elif act == "truncate":
        works(os.ftruncate, descriptor, 3)
        expect(works(os.pread, descriptor, 10, 0), b"con")
    elif act == "fchmod":
        works(os.fchmod, descriptor, 0o600)
        expect(oct(os.fstat(descriptor).st_mode), "0o100600")
    elif act == "fsync":
        works(os.fsync, descriptor)
    elif act == "fallocate":
        works(os.posix_fallocate, descriptor, 0, 10000)
        expect(os.fstat(descriptor).st_size, 10000)
    elif act == "utime":
        works(os.utime, descriptor, (1, 2))
        expect(os.fstat(descriptor).st_mtime, 2)
    elif act == "xattr":
        works(os.setxattr, descriptor, "user.a", b"v")
        expect(works(os.getxattr, descriptor, "user.a"), b"v")
    elif act == "lseek":
        expect(works(os.lseek, descriptor, 0, os.SEEK_END), 7)
    elif act == "mmap":
        with mmap.mmap(descriptor, 7) as view:
            view[:1] = b"C"
            expect(view[:], b"Content")
    elif act == "a new file under its name":
        at.file(content=b"other")
        expect(works(os.pread, descriptor, 10, 0), b"content")
        with open(at("f"), "rb") as file:
            expect(file.read(), b"other")


@row("rmdir", "an open directory: {act}", act=("fstat", "list", "create in it", "open “.”"))
def open_directory(at, act):
    descriptor = at.open(at.directory(), os.O_DIRECTORY)
    works(os.rmdir, at("d"))
    if act == "fstat":
        expect(works(os.fstat, descriptor).st_nlink, {0, 1})
    elif act == "list":
        expect(works(os.listdir, descriptor), [])
    elif act == "create in it":
        fails("ENOENT", os.mkdir, "x", dir_fd=descriptor)
        fails("ENOENT", os.open, "x", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor)
    else:
        works(os.stat, ".", dir_fd=descriptor)


@row("remove", "{user} a {kind} of mode 0000 from its own directory", user=(OWNER,), kind=("file", "directory", "fifo"))
def own_rights_do_not_matter(at, user, kind):
    at.make(kind, mode=0, owner=user)
    with user:
        works(remove, kind, at("x"))
