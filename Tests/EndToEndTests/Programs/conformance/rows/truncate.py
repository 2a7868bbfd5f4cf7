"""truncate(2), ftruncate(2), and the limits of a file's size."""
import os
import resource

import calls
from place import NOT_LINKS
from table import error_name, expect, fails, row, works
from users import OWNER, STRANGER

WAYS = ("truncate", "ftruncate")
CONTENT = bytes(range(1, 256)) * 40     # 10,200 bytes, none of them zero


def cut(how, at, path, size):
    if how == "truncate":
        os.truncate(path, size)
    else:
        os.ftruncate(at.open(path, os.O_WRONLY), size)


@row("truncate", "{how} from {before} to {size} bytes", how=WAYS, before=(0, 1, 4095, 4096, 4097, 10_200),
     size=(0, 1, 100, 4095, 4096, 4097, 8192, 10_199, 10_200, 10_201, 100_000))
def sizes(at, how, before, size):
    path = at.file(content=CONTENT[:before])
    works(cut, how, at, path, size)
    expect(os.stat(path).st_size, size)
    with open(path, "rb") as file:
        expect(file.read() == CONTENT[:min(before, size)] + bytes(max(0, size - before)), True, "content")


@row("truncate", "{how}: what was cut off is zero when the file grows again", how=WAYS)
def regrow(at, how):
    path = at.file(content=CONTENT)
    works(cut, how, at, path, 5000)
    works(cut, how, at, path, 10_000)
    with open(path, "rb") as file:
        expect(file.read() == CONTENT[:5000] + bytes(5000), True, "content")


@row("truncate", "{how}: mtime and ctime when the size {change}", how=WAYS, change=("shrinks", "grows"))
def times(at, how, change):
    path = at.file(content=CONTENT)
    before = os.stat(path)
    yield
    works(cut, how, at, path, 10 if change == "shrinks" else 20_000)
    after = os.stat(path)
    expect(after.st_mtime_ns > before.st_mtime_ns, True, "a later mtime")
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")
    expect(after.st_atime_ns, before.st_atime_ns, "atime")


@row("truncate", "{how} to the size that it has, {size}: frees what is allocated past it", how=WAYS, size=(0, 100, 10_200))
def same_size(at, how, size):
    path = at.file(content=CONTENT[:size])
    works(calls.fallocate, at.open(path), calls.KEEP_SIZE, 1 << 16, 1 << 20)
    before = os.stat(path)
    yield
    expect(before.st_blocks * 512 >= 1 << 20, True, "allocated")
    works(cut, how, at, path, size)
    after = os.stat(path)
    expect(after.st_blocks * 512 < 1 << 16, True, "few blocks")
    # What truncate(2) does to it is the file system's own.
    if how == "ftruncate":
        expect(after.st_mtime_ns > before.st_mtime_ns, True, "a later mtime")


@row("truncate", "that fails changes nothing: {why}", why=("no right", "negative"))
def failed(at, why):
    path = at.file(content=b"content", owner=OWNER)
    before = os.stat(path)
    yield
    if why == "negative":
        fails("EINVAL", os.truncate, path, -1)
    else:
        with STRANGER:
            fails("EACCES", os.truncate, path, 0)
    expect(os.stat(path), before)


@row("truncate", "of a {kind}", kind=NOT_LINKS)
def kinds(at, kind):
    wanted = {"file": "OK", "directory": "EISDIR"}.get(kind, "EINVAL")
    fails(wanted, os.truncate, at.make(kind), 10)


@row("ftruncate", "of a {kind}",
     kind=("directory", "fifo", "reading descriptor", "O_PATH descriptor", "closed descriptor"))
def descriptors(at, kind):
    if kind in ("directory", "fifo"):
        flags = os.O_RDONLY if kind == "directory" else os.O_RDWR
        return fails("EINVAL", os.ftruncate, at.open(at.make(kind), flags | os.O_NONBLOCK), 0)
    if kind == "closed descriptor":
        return fails("EBADF", os.ftruncate, 99999, 0)
    flags = os.O_RDONLY if kind.startswith("reading") else os.O_PATH
    return fails({"EINVAL", "EBADF"}, os.ftruncate, at.open(at.file(), flags), 0)


@row("ftruncate", "to {size}", size=(-1, -(1 << 62), -(1 << 63)))
def negative(at, size):
    fails("EINVAL", os.ftruncate, at.open(at.file()), size)


@row("truncate", "{how} to {size} bytes, sparse", how=WAYS, size=(1 << 31, (1 << 32) + 1, 100 * 10 ** 9, 1 << 43))
def sparse(at, how, size):
    path = at.file(content=b"start")
    works(cut, how, at, path, size)
    status = os.stat(path)
    expect(status.st_size, size)
    expect(status.st_blocks * 512 < 1 << 20, True, "few blocks")
    descriptor = at.open(path)
    works(os.pwrite, descriptor, b"end", size - 3)
    expect(works(os.pread, descriptor, 10, size - 5), b"\0\0end")
    works(os.truncate, path, 2)
    expect(works(os.pread, descriptor, 10, 0), b"st")


@row("truncate", "{how} to 2^63-1 bytes", how=WAYS)
def largest(at, how):
    path = at.file()
    try:
        cut(how, at, path, (1 << 63) - 1)
    except OSError as error:
        expect(error.errno, {27, 22})       # EFBIG, EINVAL: past what the file system can hold
        expect(os.stat(path).st_size, 0)
        return
    expect(os.stat(path).st_size, (1 << 63) - 1)


@row("limits", "{call} past RLIMIT_FSIZE", call=("write", "pwrite", "truncate", "ftruncate", "posix_fallocate"))
def file_size_limit(at, call):
    path = at.file(content=bytes(1000))
    descriptor = at.open(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        if call == "write":
            os.lseek(descriptor, 1990, os.SEEK_SET)
            expect(works(os.write, descriptor, bytes(100)), 10, "what fits")
            fails("EFBIG", os.write, descriptor, b"x")
        elif call == "pwrite":
            fails("EFBIG", os.pwrite, descriptor, b"x", 2000)
        elif call == "posix_fallocate":
            fails("EFBIG", os.posix_fallocate, descriptor, 0, 3000)
        else:
            fails("EFBIG", os.truncate, path if call == "truncate" else descriptor, 3000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    expect(os.stat(path).st_size, 2000 if call == "write" else 1000)


@row("limits", "{call} at offset {offset}", call=("pread", "pwrite"),
     offset=((1 << 63) - 1, (1 << 63) - 4096, (1 << 62), -1, -(1 << 63)))
def far_offsets(at, call, offset):
    descriptor = at.open(at.file(content=b"x"))
    if offset < 0:
        wanted = "EINVAL"
    elif call == "pread":
        wanted = {"OK", "EINVAL", "EOVERFLOW"}
    else:
        wanted = {"OK", "EFBIG", "EINVAL", "EOVERFLOW"}
    try:
        done = os.pread(descriptor, 100, offset) if call == "pread" else os.pwrite(descriptor, b"far", offset)
        expect("OK", wanted)
        expect(done, b"" if call == "pread" else {1, 2, 3})
    except OSError as error:
        expect(error_name(error), wanted)
        expect(os.fstat(descriptor).st_size, 1)
    expect(works(os.pread, descriptor, 1, 0), b"x")


@row("truncate", "{how} of a file that another has open: both see it", how=WAYS)
def shared(at, how):
    path = at.file(content=CONTENT)
    reader = at.open(path, os.O_RDONLY)
    expect(len(os.pread(reader, 20_000, 0)), len(CONTENT))
    works(cut, how, at, path, 100)
    expect((os.fstat(reader).st_size, os.pread(reader, 20_000, 0)), (100, CONTENT[:100]))
    works(cut, how, at, path, 200)
    expect(os.pread(reader, 20_000, 0), CONTENT[:100] + bytes(100))
