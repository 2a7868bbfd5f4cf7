"""rename(2) and renameat2(2) with RENAME_NOREPLACE."""
import os
import stat

import calls
from place import KINDS, NOT_DIRECTORIES, make, need_root
from table import expect, fails, row, works
from users import MEMBER, OWNER, ROOT, STRANGER


def identity(path):
    status = os.lstat(path)
    return (status.st_ino, stat.S_IFMT(status.st_mode), status.st_mode, status.st_uid, status.st_gid, status.st_size,
            status.st_mtime_ns, status.st_rdev)


def outcome(old, new):
    """What renaming one kind over another answers."""
    if old == "directory":
        return "OK" if new == "directory" else "ENOTDIR"
    return "EISDIR" if new == "directory" else "OK"


@row("rename", "a {kind} to a free name {where}", kind=KINDS, where=("beside", "in another directory"))
def plain(at, kind, where):
    at.directory()
    old, new = at.make(kind), at("y") if where == "beside" else at("d/y")
    before = identity(old)
    works(os.rename, old, new)
    expect(identity(new), before, "the file")
    fails("ENOENT", os.lstat, old)
    expect(sorted(os.listdir(at.path)), ["d", "y"] if where == "beside" else ["d"], "listing")


@row("rename", "a {old} over a {new} {where}", old=KINDS, new=KINDS, where=("beside", "in another directory"))
def over(at, old, new, where):
    at.directory()
    source, target = at.make(old), at.make(new, "y" if where == "beside" else "d/y")
    before, replaced = identity(source), identity(target)
    wanted = outcome(old, new)
    fails(wanted, os.rename, source, target)
    if wanted == "OK":
        expect(identity(target), before, "the file")
        fails("ENOENT", os.lstat, source)
    else:
        expect((identity(source), identity(target)), (before, replaced), "both as they were")


@row("rename", "a {old} over a {new}: times of the directories and of the file", old=KINDS, new=KINDS + ("nothing",),
     when=lambda old, new: new == "nothing" or outcome(old, new) == "OK")
def times(at, old, new):
    one, other = at.directory("one"), at.directory("other")
    source = at.make(old, "one/x")
    if new != "nothing":
        at.make(new, "other/y")
    before = [os.lstat(path) for path in (one, other, source)]
    yield
    works(os.rename, source, at("other/y"))
    after = [os.lstat(path) for path in (one, other, at("other/y"))]
    for what, was, now in zip(("old directory", "new directory"), before, after):
        expect(now.st_mtime_ns > was.st_mtime_ns, True, f"a later mtime of the {what}")
        expect(now.st_ctime_ns > was.st_ctime_ns, True, f"a later ctime of the {what}")
    expect(after[2].st_mtime_ns, before[2].st_mtime_ns, "mtime of the file")
    expect(after[2].st_ctime_ns > before[2].st_ctime_ns, True, "a later ctime of the file")


@row("rename", "that fails changes no time: a {old} over a {new}", old=KINDS, new=KINDS,
     when=lambda old, new: outcome(old, new) != "OK")
def failed_times(at, old, new):
    source, target = at.make(old), at.make(new, "y")
    before = [os.lstat(path) for path in (at.path, source, target)]
    yield
    fails(outcome(old, new), os.rename, source, target)
    after = [os.lstat(path) for path in (at.path, source, target)]
    expect([(one.st_mtime_ns, one.st_ctime_ns) for one in after],
           [(one.st_mtime_ns, one.st_ctime_ns) for one in before])


@row("rename", "over one of two names of a {kind}: the other's link count and ctime", kind=NOT_DIRECTORIES)
def replaced_link(at, kind):
    target = at.make(kind, "y")
    os.link(target, at("other"), follow_symlinks=False)
    source = at.file("x")
    before = os.lstat(at("other"))
    yield
    works(os.rename, source, target)
    after = os.lstat(at("other"))
    expect(after.st_nlink, 1, "st_nlink")
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")


@row("rename", "a {kind} onto another name of itself does nothing", kind=NOT_DIRECTORIES)
def same_file(at, kind):
    path = at.make(kind)
    os.link(path, at("y"), follow_symlinks=False)
    works(os.rename, path, at("y"))
    expect(sorted(os.listdir(at.path)), ["x", "y"])
    expect(os.lstat(path).st_nlink, 2)


@row("rename", "a {kind} to its own name does nothing", kind=KINDS)
def own_name(at, kind):
    path = at.make(kind)
    before = identity(path)
    works(os.rename, path, path)
    expect(identity(path), before)


@row("rename", "a directory over one that holds a {kind}", kind=KINDS)
def not_empty(at, kind):
    at.directory("a")
    at.directory("b")
    at.make(kind, "b/x")
    fails({"ENOTEMPTY", "EEXIST"}, os.rename, at("a"), at("b"))
    expect(os.listdir(at("b")), ["x"])


@row("rename", "a directory to {target} inside itself", target=("a/b", "a/b/c", "a/d/e"))
def into_itself(at, target):
    os.makedirs(at("a/b"))
    os.mkdir(at("a/d"))
    fails("EINVAL", os.rename, at("a"), at(target))


@row("rename", "a directory over one that it lies in")
def over_ancestor(at):
    os.makedirs(at("a/b"))
    fails({"ENOTEMPTY", "EEXIST"}, os.rename, at("a/b"), at("a"))


@row("rename", "“{old}” to “{new}”", old=("d/.", "d/..", "d"), new=("x", "e/.", "e/.."),
     when=lambda old, new: old != "d" or new != "x")
def dots(at, old, new):
    at.directory("d")
    at.directory("e")
    fails({"EINVAL", "EBUSY", "ENOTEMPTY"}, os.rename, at(old), at(new))


@row("rename", "a directory with {count} entries keeps what is below it", count=(0, 1, 100))
def with_content(at, count):
    at.directory()
    for number in range(count):
        at.file(f"d/{number}", str(number).encode())
    works(os.rename, at("d"), at("e"))
    expect(len(os.listdir(at("e"))), count)
    for number in range(count):
        with open(at(f"e/{number}"), "rb") as file:
            expect(file.read(), str(number).encode())


@row("rename", "a directory to another parent: link counts and “..”")
def parent_links(at):
    at.directory("one")
    at.directory("other")
    at.directory("one/d")
    before = [os.stat(at(name)).st_nlink for name in ("one", "other")]
    works(os.rename, at("one/d"), at("other/d"))
    after = [os.stat(at(name)).st_nlink for name in ("one", "other")]
    if before == [3, 2]:    # where directories count their children
        expect(after, [2, 3])
    expect(os.stat(at("other/d/..")).st_ino, os.stat(at("other")).st_ino)


@row("rename", "a directory that is open, or in use as working directory, stays so")
def in_use(at):
    at.directory()
    at.file("d/f", b"x")
    descriptor = at.open(at("d"), os.O_DIRECTORY)
    os.chdir(at("d"))
    at.after(os.chdir, "/")
    works(os.rename, at("d"), at("e"))
    expect(works(os.listdir, descriptor), ["f"])
    works(os.stat, "f")
    works(os.close, works(os.open, "new", os.O_CREAT | os.O_WRONLY))
    expect(sorted(os.listdir(at("e"))), ["f", "new"])
    expect(os.getcwd(), at("e"))


@row("rename", "over a file that is open: the descriptor keeps the old content")
def replaced_open(at):
    descriptor = at.open(at.file("y", b"old"))
    works(os.rename, at.file("x", b"new"), at("y"))
    expect(works(os.pread, descriptor, 10, 0), b"old")
    expect(os.fstat(descriptor).st_nlink, 0)
    works(os.pwrite, descriptor, b"still", 0)
    with open(at("y"), "rb") as file:
        expect(file.read(), b"new")


@row("rename", "a file that is open: the descriptor follows")
def moved_open(at):
    descriptor = at.open(at.file("x", b"content"))
    works(os.rename, at("x"), at("y"))
    works(os.pwrite, descriptor, b"C", 0)
    with open(at("y"), "rb") as file:
        expect(file.read(), b"Content")


@row("rename", "a symlink renames the link, over a symlink replaces the link")
def links(at):
    os.symlink("a", at("x"))
    os.symlink("b", at("y"))
    works(os.rename, at("x"), at("y"))
    expect(os.readlink(at("y")), "a")


@row("rename", "to another file system")
def other_file_system(at):
    fails("EXDEV", os.rename, at.file(), "/proc/x")
    works(os.stat, at("f"))


@row("rename", "a directory of {owner} that {user} may not write to, into another directory", owner=(OWNER,),
     user=(MEMBER, STRANGER, OWNER, ROOT))
def parent_entry(at, owner, user):
    # Its “..” changes, and that takes the right to write to it.
    at.directory("to", mode=0o777)
    at.directory("x", mode=0o755, owner=owner)
    fails_as(user, "OK" if user in (owner, ROOT) else "EACCES", os.rename, at("x"), at("to/x"))


def fails_as(user, wanted, call, *arguments):
    with user:
        fails(wanted, call, *arguments)


@row("renameat2", "NOREPLACE: a {kind} to a free name", kind=KINDS)
def no_replace_free(at, kind):
    before = identity(at.make(kind))
    works(calls.renameat2, at("x"), at("y"), calls.NOREPLACE)
    expect(identity(at("y")), before)


@row("renameat2", "NOREPLACE: a {old} over a {new}", old=KINDS, new=KINDS)
def no_replace(at, old, new):
    source, target = at.make(old), at.make(new, "y")
    before = identity(source), identity(target)
    fails("EEXIST", calls.renameat2, source, target, calls.NOREPLACE)
    expect((identity(source), identity(target)), before)


@row("renameat2", "with flags {flags:#x}", flags=(3, 6, 8, 0x80, 0x80000000))
def wrong_flags(at, flags):
    at.file("x")
    at.file("y")
    fails("EINVAL", calls.renameat2, at("x"), at("y"), flags)


@row("renameat2", "WHITEOUT leaves a device 0:0 under the old name of a {kind}", kind=("file", "symlink", "fifo"))
def whiteout(at, kind):
    need_root()
    before = identity(at.make(kind))
    try:
        calls.renameat2(at("x"), at("y"), calls.WHITEOUT)
    except OSError as error:
        expect(error.errno, 22)     # not every file system has it
        return
    expect(identity(at("y")), before)
    status = os.lstat(at("x"))
    expect((stat.S_ISCHR(status.st_mode), status.st_rdev), (True, 0))
    works(os.unlink, at("x"))


@row("rename", "a {kind} back and forth {times} times", kind=NOT_DIRECTORIES[:3] + ("directory",), times=(20,))
def back_and_forth(at, kind, times):
    make(kind, at("x"))
    before = identity(at("x"))
    for number in range(times):
        names = (at("x"), at("y")) if number % 2 == 0 else (at("y"), at("x"))
        works(os.rename, *names)
        fails("ENOENT", os.lstat, names[0])
    expect(identity(at("x")), before)


