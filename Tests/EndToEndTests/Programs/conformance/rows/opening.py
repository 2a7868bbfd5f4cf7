"""open(2): flags, and what descriptors opened with them can do."""
import fcntl
import os

from place import DEVICES, KINDS, NOT_LINKS
from table import answer, expect, fails, row, works
from users import EVERYBODY, OWNER, ROOT, STRANGER

ACCESS = {"O_RDONLY": os.O_RDONLY, "O_WRONLY": os.O_WRONLY, "O_RDWR": os.O_RDWR}
EXTRA = {
    "nothing": 0, "O_APPEND": os.O_APPEND, "O_TRUNC": os.O_TRUNC, "O_CREAT": os.O_CREAT, "O_NONBLOCK": os.O_NONBLOCK,
    "O_SYNC": os.O_SYNC, "O_DSYNC": os.O_DSYNC, "O_NOATIME": os.O_NOATIME, "O_NOFOLLOW": os.O_NOFOLLOW,
    "O_CLOEXEC": os.O_CLOEXEC, "O_NOCTTY": os.O_NOCTTY, "O_DIRECT": os.O_DIRECT, "O_ASYNC": os.O_ASYNC,
    "O_CREAT|O_TRUNC": os.O_CREAT | os.O_TRUNC, "O_CREAT|O_APPEND": os.O_CREAT | os.O_APPEND,
    "O_TRUNC|O_APPEND": os.O_TRUNC | os.O_APPEND, "O_LARGEFILE": 0o100000,
}


def opened(path, flags, mode=0o644):
    os.close(os.open(path, flags, mode))


@row("open", "{access} with {extra}: what can be done with the descriptor", access=ACCESS, extra=EXTRA)
def descriptors(at, access, extra):
    path = at.file(content=b"content")
    descriptor = at.open(path, ACCESS[access] | EXTRA[extra])
    truncates, appends = "O_TRUNC" in extra, "O_APPEND" in extra
    expect(os.fstat(descriptor).st_size, 0 if truncates else 7, "size")
    if extra == "O_DIRECT":
        return
    if access == "O_WRONLY":
        fails("EBADF", os.read, descriptor, 1)
    else:
        expect(works(os.read, descriptor, 3), b"" if truncates else b"con")
    if access == "O_RDONLY":
        fails("EBADF", os.write, descriptor, b"x")
        fails("EBADF", os.posix_fallocate, descriptor, 0, 1)
        fails("EINVAL", os.ftruncate, descriptor, 0)
    else:
        expect(works(os.write, descriptor, b"new"), 3)
        with open(path, "rb") as file:
            found = file.read()
        start = b"" if truncates else b"content"
        place = len(start) if appends else 0 if truncates or access == "O_WRONLY" else 3
        expect(found, start[:place] + b"new" + start[place + 3:], "content")
    kept = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    expect(kept & os.O_ACCMODE, ACCESS[access], "F_GETFL")
    expect(bool(kept & os.O_APPEND), appends, "O_APPEND in F_GETFL")


@row("open", "{access} of a {kind}", access=ACCESS, kind=NOT_LINKS)
def kinds(at, access, kind):
    path = at.make(kind, mode=0o777)
    if kind in DEVICES:
        return          # the mount may be nodev
    wanted = {"directory": "OK" if access == "O_RDONLY" else "EISDIR", "socket": "ENXIO",
              "fifo": "ENXIO" if access == "O_WRONLY" else "OK", "file": "OK"}[kind]
    fails(wanted, opened, path, ACCESS[access] | os.O_NONBLOCK)


@row("open", "{access}|O_CREAT|O_EXCL where a {kind} is", access=ACCESS, kind=KINDS)
def exclusive(at, access, kind):
    fails("EEXIST", opened, at.make(kind), ACCESS[access] | os.O_CREAT | os.O_EXCL)


@row("open", "O_DIRECTORY of a {kind}", kind=KINDS)
def directory_only(at, kind):
    wanted = {"directory": "OK", "symlink": "ENOENT"}.get(kind, "ENOTDIR")
    fails(wanted, opened, at.make(kind), os.O_RDONLY | os.O_DIRECTORY)


@row("open", "O_NOFOLLOW of a {kind}", kind=("file", "directory", "symlink", "fifo"))
def no_follow(at, kind):
    fails("ELOOP" if kind == "symlink" else "OK", opened, at.make(kind), os.O_NOFOLLOW | os.O_NONBLOCK)


@row("open", "O_NOFOLLOW of a symlink to a {kind}", kind=("file", "directory"))
def no_follow_target(at, kind):
    at.make(kind, "target")
    at.make("symlink", "x")
    fails("ELOOP", opened, at("x"), os.O_NOFOLLOW)
    fails("ELOOP", opened, at("x"), os.O_NOFOLLOW | os.O_CREAT | os.O_WRONLY)


@row("open", "a directory with {flags}", flags=("O_WRONLY", "O_RDWR", "O_RDONLY|O_CREAT", "O_WRONLY|O_CREAT",
                                                "O_RDONLY|O_TRUNC", "O_WRONLY|O_TRUNC"))
def writing_directory(at, flags):
    number = 0
    for one in flags.split("|"):
        number |= getattr(os, one)
    fails("EISDIR", opened, at.directory(), number)


@row("open", "O_CREAT|O_DIRECTORY where nothing is")
def create_directory(at):
    fails({"EINVAL", "ENOTDIR", "EISDIR"}, opened, at("x"), os.O_CREAT | os.O_DIRECTORY)


@row("open", "O_TRUNC of a file with {access}: size, mtime and ctime", access=ACCESS)
def truncation(at, access):
    path = at.file(content=b"content")
    before = os.stat(path)
    yield
    works(opened, path, ACCESS[access] | os.O_TRUNC)
    after = os.stat(path)
    expect((after.st_size, after.st_ino, after.st_mode), (0, before.st_ino, before.st_mode))
    expect(after.st_mtime_ns > before.st_mtime_ns, True, "a later mtime")
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")


@row("open", "with {flags} of a file that is there: no time changes",
     flags=("O_RDONLY", "O_RDWR", "O_CREAT", "O_APPEND"))
def no_times(at, flags):
    path = at.file(content=b"content")
    before, parent = os.stat(path), os.stat(at.path)
    yield
    works(opened, path, getattr(os, flags) | os.O_RDWR)
    after, now = os.stat(path), os.stat(at.path)
    expect((after.st_mtime_ns, after.st_ctime_ns), (before.st_mtime_ns, before.st_ctime_ns), "the file's times")
    expect((now.st_mtime_ns, now.st_ctime_ns), (parent.st_mtime_ns, parent.st_ctime_ns), "the directory's times")


@row("open", "a new file with mode {mode:04o} and {access}: the descriptor works whatever the mode", access=ACCESS,
     mode=(0, 0o111, 0o222, 0o444, 0o200, 0o400), user=(OWNER, ROOT))
def own_mode(at, access, mode, user):
    with user:
        descriptor = works(at.open, at("x"), ACCESS[access] | os.O_CREAT | os.O_EXCL, mode)
        if access != "O_RDONLY":
            expect(works(os.write, descriptor, b"abc"), 3)
        if access != "O_WRONLY":
            works(os.pread, descriptor, 3, 0)
        again = answer(opened, at("x"), ACCESS[access])
    needed = {"O_RDONLY": 4, "O_WRONLY": 2, "O_RDWR": 6}[access]
    expect(again, "OK" if user is ROOT or mode >> 6 & needed == needed else "EACCES", "a second open")


@row("open", "O_NOATIME by {user}", user=EVERYBODY)
def no_access_time(at, user):
    path = at.file(mode=0o666, owner=OWNER)
    with user:
        fails("OK" if user in (OWNER, ROOT) else "EPERM", opened, path, os.O_RDONLY | os.O_NOATIME)


@row("open", "a fifo with O_WRONLY|O_NONBLOCK once somebody reads")
def fifo(at):
    path = at.make("fifo")
    reader = at.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writer = works(at.open, path, os.O_WRONLY | os.O_NONBLOCK)
    works(os.write, writer, b"through")
    expect(works(os.read, reader, 100), b"through")


# O_PATH: a descriptor for the place only.
@row("open", "O_PATH of a {kind}: it is there to be named", kind=KINDS)
def path_only(at, kind):
    path = at.make(kind, mode=0)
    descriptor = works(at.open, path, os.O_PATH | os.O_NOFOLLOW)
    expect(os.fstat(descriptor).st_ino, os.lstat(path).st_ino)
    for call, arguments in ((os.read, (1,)), (os.write, (b"x",)), (os.fchmod, (0o600,)), (os.ftruncate, (0,)),
                            (os.fsync, ())):
        fails({"EBADF", "EINVAL"}, call, descriptor, *arguments)


@row("open", "O_PATH by a stranger needs no permission on the file")
def path_without_permission(at):
    path = at.file(mode=0, owner=OWNER)
    with STRANGER:
        works(opened, path, os.O_PATH)
        fails("EACCES", opened, path, os.O_RDONLY)


@row("open", "again through /proc/self/fd of an O_PATH descriptor with {access}", access=ACCESS)
def reopened(at, access):
    descriptor = at.open(at.file(content=b"x"), os.O_PATH)
    works(opened, f"/proc/self/fd/{descriptor}", ACCESS[access])


@row("open", "again through /proc/self/fd with {access} after the file was removed", access=ACCESS)
def reopened_removed(at, access):
    descriptor = at.open(at.file(content=b"x"))
    os.unlink(at("f"))
    works(opened, f"/proc/self/fd/{descriptor}", ACCESS[access])


@row("open", "past the limit of descriptors")
def too_many(at):
    import resource
    path = at.file()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1, hard))
    try:
        code = answer(lambda: [at.open(path) for _ in range(1100)])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    expect(code, "EMFILE")


@row("open", "{count} descriptors of one file, each with a place of its own", count=(2, 200))
def many(at, count):
    path = at.file(content=bytes(range(200)))
    found = [at.open(path, os.O_RDONLY) for _ in range(count)]
    for place, descriptor in enumerate(found):
        os.lseek(descriptor, place, os.SEEK_SET)
    expect([os.read(descriptor, 1)[0] for descriptor in found], list(range(count)))


@row("open", "dup shares the place")
def duplicate(at):
    descriptor = at.open(at.file(content=b"abcdef"))
    other = os.dup(descriptor)
    at.after(os.close, other)
    os.read(descriptor, 2)
    expect(works(os.read, other, 2), b"cd")


@row("open", "relative to a descriptor of a {kind}", kind=("directory", "file"))
def relative(at, kind):
    at.make(kind)
    descriptor = at.open(at("x"), os.O_RDONLY)
    if kind == "directory":
        at.file("x/f")
    fails("OK" if kind == "directory" else "ENOTDIR", os.stat, "f", dir_fd=descriptor)


@row("open", "with both access bits set")
def invalid_access(at):
    path = at.file()
    descriptor = works(at.open, path, 3)    # Linux: for ioctl only
    fails("EBADF", os.read, descriptor, 1)
    fails("EBADF", os.write, descriptor, b"x")


@row("open", "O_DIRECT: {what}", what=("aligned", "unaligned address or length"))
def direct(at, what):
    import mmap
    path = at.file(content=bytes(8192))
    try:
        descriptor = at.open(path, os.O_RDWR | os.O_DIRECT)
    except OSError:
        return      # not everywhere; then open says EINVAL
    buffer = mmap.mmap(-1, 8192)
    buffer[:5] = b"hello"
    if what == "aligned":
        expect(works(os.pwritev, descriptor, [memoryview(buffer)[:4096]], 4096), 4096)
        expect(works(os.preadv, descriptor, [memoryview(buffer)[4096:]], 4096), 4096)
        expect(buffer[4096:4101], b"hello")
    else:
        code = answer(os.pwritev, descriptor, [memoryview(buffer)[1:100]], 3)
        expect(code, {"OK", "EINVAL"})
        with open(path, "rb") as file:
            content = file.read()
        expect(content, content[:3] + bytes(buffer[1:100]) + content[102:] if code == "OK" else bytes(8192))
    expect(os.fstat(descriptor).st_size, 8192)


