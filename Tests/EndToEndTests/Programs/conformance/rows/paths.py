"""What every call that takes a path answers to a path that cannot be walked (path_resolution(7))."""
import os
import stat

import calls
from place import PLAIN
from table import expect, fails, row, works
from users import EVERYBODY, MEMBER, OWNER, STRANGER, SUPPLEMENTARY, exclusive

CREATE = os.O_CREAT | os.O_WRONLY


def opened(path, flags, mode=0o644):
    os.close(os.open(path, flags, mode))


# Calls on what is there: name → (call, whether a symlink at the end is followed).
EXISTING = {
    "open": (lambda path: opened(path, os.O_RDONLY | os.O_NONBLOCK), True),
    "open(O_PATH)": (lambda path: opened(path, os.O_PATH), True),
    "open(O_DIRECTORY)": (lambda path: opened(path, os.O_DIRECTORY), True),
    "stat": (os.stat, True),
    "lstat": (os.lstat, False),
    "access": (lambda path: calls.access(path, os.F_OK), True),
    "faccessat2": (lambda path: calls.faccess(path, os.F_OK), True),
    "chmod": (lambda path: os.chmod(path, 0o700), True),
    "chown": (lambda path: os.chown(path, -1, -1), True),
    "lchown": (lambda path: os.lchown(path, -1, -1), False),
    "truncate": (lambda path: os.truncate(path, 0), True),
    "utimensat": (lambda path: os.utime(path), True),
    "utimensat(AT_SYMLINK_NOFOLLOW)": (lambda path: os.utime(path, follow_symlinks=False), False),
    "chdir": (os.chdir, True),
    "statfs": (os.statvfs, True),
    "readlink": (os.readlink, False),
    "unlink": (os.unlink, False),
    "rmdir": (os.rmdir, False),
    "getxattr": (lambda path: os.getxattr(path, "user.a"), True),
    "setxattr": (lambda path: os.setxattr(path, "user.a", b"1"), True),
    "listxattr": (os.listxattr, True),
    "removexattr": (lambda path: os.removexattr(path, "user.a"), True),
    "link from": (lambda path: os.link(path, beside(path, "new"), follow_symlinks=False), False),
    "rename from": (lambda path: os.rename(path, beside(path, "moved")), False),
    "renameat2(EXCHANGE) from": (
        lambda path: calls.renameat2(path, beside(path, "source"), calls.EXCHANGE), False),
}

# Calls that make something at the path.
MAKING = {
    "open(O_CREAT)": lambda path: opened(path, CREATE),
    "open(O_CREAT|O_EXCL)": lambda path: opened(path, CREATE | os.O_EXCL),
    "creat": lambda path: os.close(calls.creat(path, 0o644)),
    "mkdir": os.mkdir,
    "mkfifo": os.mkfifo,
    "mknod": lambda path: os.mknod(path, stat.S_IFREG | 0o644),
    "symlink": lambda path: os.symlink("target", path),
    "link to": lambda path: os.link(beside(path, "source"), path),
    "rename to": lambda path: os.rename(beside(path, "source"), path),
    "renameat2(NOREPLACE) to": lambda path: calls.renameat2(beside(path, "source"), path, calls.NOREPLACE),
}
EVERY = {**{name: call for name, (call, _) in EXISTING.items()}, **MAKING}
FOLLOWING = [name for name, (_, follows) in EXISTING.items() if follows]


def beside(path, name):
    """A name directly in the row's place, wherever in it the path leads."""
    parts = path.split("/")
    place = next(index for index, part in enumerate(parts) if part.startswith("c-"))
    return "/".join(parts[:place + 3] + [name])


@row("path", "{call}: a directory on the way is not there", call=EVERY)
def missing_directory(at, call):
    at.file("source")
    fails("ENOENT", EVERY[call], at("no/x"))


@row("path", "{call}: a directory on the way is a {kind}", call=EVERY, kind=PLAIN)
def not_a_directory(at, call, kind):
    at.file("source")
    fails("ENOTDIR", EVERY[call], at.make(kind, "x") + "/y")


@row("path", "{call}: a symlink on the way leads nowhere", call=EVERY)
def dangling_on_the_way(at, call):
    at.file("source")
    fails("ENOENT", EVERY[call], at.make("symlink", "x") + "/y")


@row("path", "{call}: a symlink on the way leads to a directory", call=EVERY)
def symlink_on_the_way(at, call):
    at.file("source")
    at.directory("there")
    os.symlink("there", at("way"))
    if call in EXISTING:
        at.directory("there/x") if call in ("rmdir", "chdir", "open(O_DIRECTORY)") else at.file("there/x")
    wanted = {"readlink": "EINVAL", "getxattr": "ENODATA", "removexattr": "ENODATA"}.get(call, "OK")
    fails(wanted, EVERY[call], at("way/x"))
    expect(os.path.lexists(at("there/x")), call not in ("unlink", "rmdir", "rename from"))


@row("path", "{call}: nothing is there", call=EXISTING)
def missing(at, call):
    at.file("source")
    fails("ENOENT", EVERY[call], at("no"))


@row("path", "{call}: the empty path", call=EVERY)
def empty(at, call):
    if "link to" in call or "link from" in call or "rename" in call:
        name = at.file()
        for one in ((os.link, name, ""), (os.link, "", name), (os.rename, name, ""), (os.rename, "", name)):
            fails("ENOENT", *one)
    else:
        fails("ENOENT", EVERY[call], "")


@row("path", "{call}: a component of 256 bytes", call=EVERY)
def component_too_long(at, call):
    at.file("source")
    fails("ENAMETOOLONG", EVERY[call], at("n" * 256))


@row("path", "{call}: a component of 256 bytes on the way", call=EVERY)
def directory_too_long(at, call):
    at.file("source")
    fails("ENAMETOOLONG", EVERY[call], at("n" * 256) + "/x")


@row("path", "{call}: a path of 4,096 bytes", call=EVERY)
def path_too_long(at, call):
    at.file("source")
    fails("ENAMETOOLONG", EVERY[call], padded(at("x"), 4096))


@row("path", "{call}: a path of 4,095 bytes", call=MAKING)
def longest_path(at, call):
    at.file("source")
    works(EVERY[call], padded(at("x"), 4095))
    works(os.lstat, at("x"))


@row("path", "{call}: a name of 255 bytes", call=MAKING)
def longest_name(at, call):
    at.file("source")
    works(EVERY[call], at("n" * 255))
    works(os.lstat, at("n" * 255))


def padded(path, length):
    """The same path in `length` bytes."""
    directory, name = os.path.split(path)
    fill = length - len(os.fsencode(path))
    return directory + "/" + "./" * (fill // 2) + "/" * (fill % 2) + name


@row("path", "{call}: symlinks that lead in a circle on the way", call=EVERY)
def circle_on_the_way(at, call):
    at.file("source")
    os.symlink("b", at("a"))
    os.symlink("a", at("b"))
    fails("ELOOP", EVERY[call], at("a/x"))


@row("path", "{call}: symlinks that lead in a circle at the end", call=FOLLOWING)
def circle_at_the_end(at, call):
    os.symlink("b", at("a"))
    os.symlink("a", at("b"))
    fails("ELOOP", EVERY[call], at("a"))


@row("path", "{links} symlinks one after the other", links=(1, 2, 8, 39, 40, 41, 60))
def chain(at, links):
    at.file("0", b"found")
    for number in range(links):
        os.symlink(str(number), at(str(number + 1)))
    fails("OK" if links <= 40 else "ELOOP", os.stat, at(str(links)))


@row("path", "{call}: a dangling symlink at the end", call=FOLLOWING)
def dangling(at, call):
    fails("ENOENT", EVERY[call], at.make("symlink"))


@row("path", "{call}: {user} may not search a directory on the way", call=EVERY,
     user=[user for user in EVERYBODY if user.uid])
def no_search(at, call, user):
    at.file("source", owner=user)
    at.directory(mode=0o777)
    if call in EXISTING:
        at.file("d/x", mode=0o666)
    os.chown(at("d"), OWNER.uid, OWNER.gid)
    os.chmod(at("d"), exclusive(user, 6))
    with user:
        fails("EACCES", EVERY[call], at("d/x"))


@row("path", "{call}: a trailing slash on a {kind}", call=EXISTING, kind=PLAIN)
def slash_on_file(at, call, kind):
    at.file("source")
    fails("ENOTDIR", EVERY[call], at.make(kind) + "/")


@row("path", "a trailing slash, {path}: a directory and a symlink to it",
     path=("d/", "d//", "l/", "d/.", "l/.", "d/../d/"))
def slash_on_directory(at, path):
    at.directory()
    os.symlink("d", at("l"))
    expect(stat.S_ISDIR(works(os.lstat, at(path)).st_mode), True)


@row("path", "{call} of a new name with a trailing slash", call=("open(O_CREAT)", "creat", "mkfifo", "mknod", "symlink",
                                                            "link to", "rename to"))
def slash_on_new(at, call):
    at.file("source")
    fails({"ENOENT", "EISDIR", "ENOTDIR"}, EVERY[call], at("x") + "/")


@row("path", "mkdir with a trailing slash")
def mkdir_slash(at):
    works(os.mkdir, at("d/"))


@row("path", "{name}: every directory has it", name=(".", ".."))
def dots(at, name):
    at.directory()
    wanted = os.stat(at("d") if name == "." else at.path)
    expect(works(os.stat, at("d") + "/" + name).st_ino, wanted.st_ino)


@row("path", "a relative path from a directory that was removed")
def removed_working_directory(at):
    at.directory()
    before = os.getcwd()
    at.after(os.chdir, before)
    os.chdir(at("d"))
    os.rmdir(at("d"))
    fails("ENOENT", os.mkdir, "x")
    fails("ENOENT", os.getcwd)
    fails("ENOENT", os.stat, "x")
    works(os.stat, ".")


@row("path", "{user}: a directory deeper than 4,096 bytes, level by level",
     user=(OWNER, MEMBER, SUPPLEMENTARY, STRANGER))
def deep(at, user):
    levels, current = 25, at.open(at.path, os.O_DIRECTORY)
    with user:
        for _ in range(levels):
            works(os.mkdir, "n" * 200, dir_fd=current)
            following = works(os.open, "n" * 200, os.O_DIRECTORY, dir_fd=current)
            at.after(os.close, following)
            current = following
        works(os.mkdir, "end", dir_fd=current)
        expect(works(os.listdir, current), ["end"])
