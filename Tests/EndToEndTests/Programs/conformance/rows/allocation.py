"""posix_fallocate(3), fallocate(2), lseek(2) with SEEK_DATA and SEEK_HOLE."""
import os

import calls
from table import answer, expect, fails, row, works
from users import STRANGER

SIZE = 65_536
CONTENT = bytes(range(1, 256)) * 257 + b"\1"      # 65,536 bytes, none of them zero


@row("posix_fallocate", "{length} bytes at {offset} of a file of {size}", size=(0, 1, 4096, 10_000),
     offset=(0, 1, 4095, 4096, 20_000), length=(1, 100, 4096, 50_000))
def allocates(at, size, offset, length):
    path = at.file(content=CONTENT[:size])
    works(os.posix_fallocate, at.open(path), offset, length)
    status = os.stat(path)
    expect(status.st_size, max(size, offset + length))
    expect(status.st_blocks * 512 >= length, True, "room taken")
    with open(path, "rb") as file:
        expect(file.read() == CONTENT[:size] + bytes(max(0, offset + length - size)), True, "content")


@row("posix_fallocate", "offset {offset}, length {length}",
     offset=(0, -1, 10, -(1 << 63)), length=(0, -1, -(1 << 63), 1),
     when=lambda offset, length: offset < 0 or length <= 0)
def invalid(at, offset, length):
    path = at.file(content=b"x")
    fails("EINVAL", os.posix_fallocate, at.open(path), offset, length)
    expect(os.stat(path).st_size, 1)


@row("posix_fallocate", "up to 2^63 - 1 and beyond", )
def too_far(at):
    fails({"EFBIG", "ENOSPC"}, os.posix_fallocate, at.open(at.file()), (1 << 63) - 1, (1 << 63) - 1)


@row("posix_fallocate", "with a {kind}", kind=("reading descriptor", "directory", "fifo", "pipe", "closed descriptor"))
def wrong_descriptor(at, kind):
    if kind == "reading descriptor":
        fails("EBADF", os.posix_fallocate, at.open(at.file(), os.O_RDONLY), 0, 1)
    elif kind == "directory":
        fails({"EBADF", "ENODEV"}, os.posix_fallocate, at.open(at.directory(), os.O_RDONLY), 0, 1)
    elif kind == "closed descriptor":
        fails("EBADF", os.posix_fallocate, 99999, 0, 1)
    else:
        descriptor = at.open(at.make("fifo"), os.O_RDWR) if kind == "fifo" else os.pipe()[1]
        fails("ESPIPE", os.posix_fallocate, descriptor, 0, 1)


@row("posix_fallocate", "by a stranger who has it open")
def by_stranger(at):
    path = at.file(mode=0o666)
    with STRANGER:
        works(os.posix_fallocate, at.open(path), 0, 100)
    expect(os.stat(path).st_size, 100)


@row("posix_fallocate", "inside a file keeps its content and size")
def inside(at):
    path = at.file(content=CONTENT)
    works(os.posix_fallocate, at.open(path), 10, 1000)
    with open(path, "rb") as file:
        expect(file.read() == CONTENT, True, "content")


@row("fallocate", "KEEP_SIZE: {length} bytes at {offset}", offset=(0, 100, SIZE, 2 * SIZE), length=(1, 100_000))
def keep_size(at, offset, length):
    path = at.file(content=CONTENT)
    works(calls.fallocate, at.open(path), calls.KEEP_SIZE, offset, length)
    expect(os.stat(path).st_size, SIZE)
    with open(path, "rb") as file:
        expect(file.read() == CONTENT, True, "content")


@row("fallocate", "{how}: {length} bytes at {offset}", how=("punch", "zero", "zero and keep size"),
     offset=(0, 1, 4096, 5000, 61_440, 65_000, 100_000), length=(1, 100, 4096, 8192, 20_000, 100_000))
def clears(at, how, offset, length):
    path = at.file(content=CONTENT)
    descriptor = at.open(path)
    mode = {"punch": calls.PUNCH_HOLE | calls.KEEP_SIZE, "zero": calls.ZERO_RANGE,
            "zero and keep size": calls.ZERO_RANGE | calls.KEEP_SIZE}[how]
    code = answer(calls.fallocate, descriptor, mode, offset, length)
    if code == "EOPNOTSUPP" and how != "punch":
        return      # not every file system zeroes
    expect(code, "OK")
    size = max(SIZE, offset + length) if how == "zero" else SIZE
    wanted = (CONTENT[:offset] + bytes(length) + CONTENT[offset + length:])[:size] if offset < SIZE else CONTENT
    wanted += bytes(size - len(wanted))
    expect(os.fstat(descriptor).st_size, size)
    expect(works(os.pread, descriptor, 2 * SIZE + 200_000, 0) == wanted, True, "content")


@row("fallocate", "punch of whole blocks gives them back")
def gives_back(at):
    path = at.file(content=CONTENT)
    descriptor = at.open(path)
    os.fsync(descriptor)
    before = os.stat(path).st_blocks
    works(calls.fallocate, descriptor, calls.PUNCH_HOLE | calls.KEEP_SIZE, 0, 32_768)
    expect(os.stat(path).st_blocks <= before - 32_768 // 512, True, "fewer blocks")


@row("fallocate", "{mode}: {why}", mode=("collapse", "insert"), why=("aligned", "unaligned"))
def shifts(at, mode, why):
    path = at.file(content=CONTENT)
    number = calls.COLLAPSE if mode == "collapse" else calls.INSERT
    code = answer(calls.fallocate, at.open(path), number, 4096 if why == "aligned" else 100, 4096)
    expect(code, {"OK", "EOPNOTSUPP"} if why == "aligned" else {"EINVAL", "EOPNOTSUPP"})
    wanted = CONTENT
    if code == "OK":
        wanted = CONTENT[:4096] + (CONTENT[8192:] if mode == "collapse" else bytes(4096) + CONTENT[4096:])
    with open(path, "rb") as file:
        expect(file.read() == wanted, True, "content")


@row("fallocate", "mode {mode:#x}", mode=(calls.PUNCH_HOLE, 0x80, 0x1000, calls.COLLAPSE | calls.KEEP_SIZE,
                                         calls.PUNCH_HOLE | calls.ZERO_RANGE | calls.KEEP_SIZE))
def wrong_mode(at, mode):
    path = at.file(content=CONTENT)
    fails({"EOPNOTSUPP", "EINVAL"}, calls.fallocate, at.open(path), mode, 0, 4096)
    with open(path, "rb") as file:
        expect(file.read() == CONTENT, True, "content")


@row("fallocate", "{how}: mtime and ctime", how=("punch", "grow"))
def times(at, how):
    path = at.file(content=CONTENT)
    before = os.stat(path)
    yield
    mode, length = (calls.PUNCH_HOLE | calls.KEEP_SIZE, 4096) if how == "punch" else (0, 2 * SIZE)
    works(calls.fallocate, at.open(path), mode, 0, length)
    after = os.stat(path)
    expect(after.st_mtime_ns > before.st_mtime_ns, True, "a later mtime")
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")


@row("lseek", "SEEK_DATA and SEEK_HOLE from {start} of data, hole, data",
     start=(0, 10, 65_536, 100_000, 1 << 20, (1 << 20) + 5))
def holes(at, start):
    path = at.file(content=CONTENT)
    descriptor = at.open(path)
    works(os.pwrite, descriptor, CONTENT, 1 << 20)
    os.fsync(descriptor)
    end = (1 << 20) + SIZE
    in_hole = SIZE <= start < 1 << 20
    expect(works(os.lseek, descriptor, start, os.SEEK_DATA), 1 << 20 if in_hole else start, "data")
    hole = start if in_hole else SIZE if start < SIZE else end
    expect(works(os.lseek, descriptor, start, os.SEEK_HOLE), hole, "hole")


@row("lseek", "SEEK_{whence} at and past the end", whence=("DATA", "HOLE"))
def past_end(at, whence):
    descriptor = at.open(at.file(content=b"x" * 100))
    for offset in (100, 101, 1 << 40):
        fails("ENXIO", os.lseek, descriptor, offset, getattr(os, f"SEEK_{whence}"))
    fails("ENXIO", os.lseek, descriptor, -1, getattr(os, f"SEEK_{whence}"))


@row("lseek", "SEEK_{whence} of {what}", whence=("DATA", "HOLE"), what=("an empty file", "a hole only", "data only"))
def uniform(at, whence, what):
    path = at.file(content=CONTENT if what == "data only" else b"")
    if what == "a hole only":
        os.truncate(path, SIZE)
    descriptor = at.open(path)
    code = answer(os.lseek, descriptor, 0, getattr(os, f"SEEK_{whence}"))
    if what == "an empty file":
        expect(code, "ENXIO")
    elif what == "a hole only" and whence == "DATA":
        expect(code, "ENXIO")
    else:
        expect(os.lseek(descriptor, 0, os.SEEK_CUR), SIZE if (what, whence) == ("data only", "HOLE") else 0)


@row("lseek", "{whence} by {offset} from 10 in a file of 100",
     whence=("SET", "CUR", "END"), offset=(-101, -11, -10, 0, 50, 1000))
def places(at, whence, offset):
    descriptor = at.open(at.file(content=b"x" * 100))
    os.lseek(descriptor, 10, os.SEEK_SET)
    wanted = offset + {"SET": 0, "CUR": 10, "END": 100}[whence]
    if wanted < 0:
        fails("EINVAL", os.lseek, descriptor, offset, getattr(os, f"SEEK_{whence}"))
        expect(os.lseek(descriptor, 0, os.SEEK_CUR), 10, "the place")
    else:
        expect(works(os.lseek, descriptor, offset, getattr(os, f"SEEK_{whence}")), wanted)


@row("lseek", "of a {kind}", kind=("pipe", "fifo", "socket"))
def not_seekable(at, kind):
    import socket
    if kind == "fifo":
        descriptor = at.open(at.make("fifo"), os.O_RDWR)
    else:
        one, other = os.pipe() if kind == "pipe" else [end.detach() for end in socket.socketpair()]
        at.after(os.close, other)
        at.after(os.close, one)
        descriptor = one
    fails("ESPIPE", os.lseek, descriptor, 0, os.SEEK_SET)


@row("lseek", "whence {whence}", whence=(5, 99, -1))
def wrong_whence(at, whence):
    fails("EINVAL", os.lseek, at.open(at.file()), 0, whence)
