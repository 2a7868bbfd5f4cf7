"""read(2), write(2), their vector forms, O_APPEND, fsync(2), copy_file_range(2)."""
import os

import calls
from table import Differs, expect, fails, row, works

SIZE = 200_000
CONTENT = (bytes(range(251)) * (SIZE // 251 + 1))[:SIZE]
PLACES = (0, 1, 511, 4095, 4096, 4097, 65_536, 131_071, 199_999, 200_000, 250_000)
LENGTHS = (1, 7, 4096, 4097, 65_536, 150_000)


def content(path):
    with open(path, "rb") as file:
        return file.read()


@row("read", "{length} bytes at {offset} of 200,000", offset=PLACES, length=LENGTHS + (0, 1 << 20))
def reading(at, offset, length):
    descriptor = at.open(at.file(content=CONTENT), os.O_RDONLY)
    expect(works(os.pread, descriptor, length, offset) == CONTENT[offset:offset + length], True, "pread")
    os.lseek(descriptor, offset, os.SEEK_SET)
    expect(works(os.read, descriptor, length) == CONTENT[offset:offset + length], True, "read")
    place = min(offset + length, max(offset, SIZE)) if length else offset
    expect(os.lseek(descriptor, 0, os.SEEK_CUR), place, "the place afterwards")


@row("write", "{length} bytes at {offset} of 200,000", offset=PLACES, length=LENGTHS)
def writing(at, offset, length):
    path = at.file(content=CONTENT)
    descriptor = at.open(path)
    new = bytes(reversed(CONTENT[:length]))
    expect(works(os.pwrite, descriptor, new, offset), length)
    wanted = CONTENT.ljust(offset, b"\0")
    wanted = wanted[:offset] + new + wanted[offset + length:]
    expect(os.fstat(descriptor).st_size, len(wanted), "size")
    expect(os.pread(descriptor, 1 << 20, 0) == wanted, True, "content by this descriptor")
    expect(content(path) == wanted, True, "content by another")


@row("write", "nothing at {offset}", offset=(0, 200_000, 1 << 40))
def nothing(at, offset):
    path = at.file(content=CONTENT)
    expect(works(os.pwrite, at.open(path), b"", offset), 0)
    expect(os.stat(path).st_size, SIZE)


@row("write", "in pieces of {length} bytes, {how}", length=(1, 3, 1000, 4096), how=("write", "writev", "appending"))
def pieces(at, length, how):
    path = at.file()
    descriptor = at.open(path, os.O_RDWR | (os.O_APPEND if how == "appending" else 0))
    wanted = CONTENT[:length * 40]
    for start in range(0, len(wanted), length):
        piece = wanted[start:start + length]
        parts = [piece[:1], piece[1:]]
        expect(os.writev(descriptor, parts) if how == "writev" else os.write(descriptor, piece), length)
    expect(content(path) == wanted, True, "content")


@row("write", "O_APPEND: {what}",
     what=("after seeking", "by two descriptors in turn", "pwrite", "after the file was cut",
                                      "set later by F_SETFL", "taken away by F_SETFL"))
def appending(at, what):
    import fcntl
    path = at.file(content=b"start")
    descriptor = at.open(path, os.O_WRONLY | (0 if what.startswith("set") else os.O_APPEND))
    if what == "after seeking":
        os.lseek(descriptor, 0, os.SEEK_SET)
        works(os.write, descriptor, b"end")
        expect((content(path), os.lseek(descriptor, 0, os.SEEK_CUR)), (b"startend", 8))
    elif what.startswith("by two"):
        other = at.open(path, os.O_WRONLY | os.O_APPEND)
        for number in range(10):
            os.write((descriptor, other)[number % 2], str(number).encode())
        expect(content(path), b"start0123456789")
    elif what == "pwrite":
        works(os.pwrite, descriptor, b"X", 0)       # Linux appends here too (pwrite(2), BUGS)
        expect(content(path), b"startX")
    elif what.startswith("after the file"):
        os.truncate(path, 2)
        os.write(descriptor, b"end")
        expect(content(path), b"stend")
    elif what.startswith("set"):
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
        os.write(descriptor, b"end")
        expect(content(path), b"startend")
    else:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, b"S")
        if content(path) == b"startS":
            raise Differs("in passthrough the kernel keeps the O_APPEND that a file was opened with")
        expect(content(path), b"Start")


@row("write", "what one writes another reads at once: {how}", how=("pwrite", "write", "append", "truncate"))
def coherent(at, how):
    path = at.file(content=b"0000000000")
    writer, reader = at.open(path, os.O_RDWR | (os.O_APPEND if how == "append" else 0)), at.open(path, os.O_RDONLY)
    for number in range(1, 30):
        expect(os.pread(reader, 20, 0)[:1], b"0")
        if how == "truncate":
            os.ftruncate(writer, number)
            expect(os.fstat(reader).st_size, number)
        else:
            text = b"%02d" % number
            os.pwrite(writer, text, number) if how == "pwrite" else os.write(writer, b"0" + text)
            size = os.fstat(reader).st_size
            found = os.pread(reader, size + 10, 0)
            expect(len(found), size)
            expect(text in found, True, "what was written")


@row("read", "of a {kind}", kind=("directory", "writing descriptor", "closed descriptor"))
def refused(at, kind):
    if kind == "directory":
        descriptor = at.open(at.path, os.O_DIRECTORY)
        fails("EISDIR", os.read, descriptor, 1)
        fails("EBADF", os.write, descriptor, b"x")
    elif kind == "writing descriptor":
        fails("EBADF", os.pread, at.open(at.file(), os.O_WRONLY), 1, 0)
    else:
        fails("EBADF", os.read, 99999, 1)
        fails("EBADF", os.write, 99999, b"x")


@row("fsync", "{call} of {what}", call=("fsync", "fdatasync", "syncfs", "sync_file_range"),
     what=("a writer", "a reader", "a directory", "a removed file"))
def synchronizing(at, call, what):
    path = at.directory() if what == "a directory" else at.file(content=b"x")
    descriptor = at.open(path, os.O_RDWR if what in ("a writer", "a removed file") else os.O_RDONLY)
    if what == "a removed file":
        os.unlink(path)
    if what != "a directory":
        works(os.pread, descriptor, 1, 0)
    if call == "sync_file_range":
        works(calls.sync_file_range, descriptor, 0, 0, 7)
    else:
        works(getattr(calls if call == "syncfs" else os, call), descriptor)


@row("fsync", "of a fifo, and of a closed descriptor")
def not_synchronizable(at):
    fails("EINVAL", os.fsync, at.open(at.make("fifo"), os.O_RDWR))
    fails("EBADF", os.fsync, 99999)


@row("copy_file_range", "{length} bytes from {start} to {target}", start=(0, 1, 4096, 100_000, 199_999, 300_000),
     target=(0, 5, 8192, 250_000), length=(1, 4096, 65_537, 1 << 20))
def copying(at, start, target, length):
    source, path = at.file("s", CONTENT), at.file("t", CONTENT[::-1])
    one, other = at.open(source, os.O_RDONLY), at.open(path)
    done = 0
    while done < length:
        count = works(os.copy_file_range, one, other, length - done, start + done, target + done)
        if not count:
            break
        done += count
    piece = CONTENT[start:start + length]
    expect(done, len(piece), "bytes copied")
    old = CONTENT[::-1]
    wanted = old.ljust(target, b"\0")[:target] + piece + old[target + len(piece):] if piece else old
    expect(content(path) == wanted, True, "content")
    expect(os.fstat(other).st_size, len(wanted), "size")


@row("copy_file_range", "within one file, {how}", how=("apart", "overlapping"))
def within(at, how):
    path = at.file(content=CONTENT)
    descriptor = at.open(path)
    if how == "overlapping":
        fails("EINVAL", os.copy_file_range, descriptor, descriptor, 1000, 0, 500)
    else:
        expect(works(os.copy_file_range, descriptor, descriptor, 1000, 0, 100_000), 1000)
        expect(content(path) == CONTENT[:100_000] + CONTENT[:1000] + CONTENT[101_000:], True, "content")


@row("copy_file_range", "{what}", what=("into a reader", "from a writer", "into an appender", "from a directory",
                                      "from a fifo", "to another file system", "without offsets"))
def copy_cases(at, what):
    source, path = at.file("s", CONTENT), at.file("t")
    if what == "into a reader":
        fails("EBADF", os.copy_file_range, at.open(source), at.open(path, os.O_RDONLY), 10)
    elif what == "from a writer":
        fails("EBADF", os.copy_file_range, at.open(source, os.O_WRONLY), at.open(path), 10)
    elif what == "into an appender":
        fails("EBADF", os.copy_file_range, at.open(source), at.open(path, os.O_WRONLY | os.O_APPEND), 10)
    elif what == "from a directory":
        fails("EISDIR", os.copy_file_range, at.open(at.path, os.O_DIRECTORY), at.open(path), 10)
    elif what == "from a fifo":
        fails("EINVAL", os.copy_file_range, at.open(at.make("fifo"), os.O_RDWR), at.open(path), 10)
    elif what == "to another file system":
        other = os.memfd_create("other")
        at.after(os.close, other)
        fails({"OK", "EXDEV"}, os.copy_file_range, at.open(source), other, 10)
    else:
        one, other = at.open(source), at.open(path)
        expect([works(os.copy_file_range, one, other, 1000) for _ in range(3)], [1000] * 3)
        expect(content(path) == CONTENT[:3000], True, "content")


@row("copy_file_range", "mtime and ctime of the target; none of the source's")
def copy_times(at):
    source, path = at.file("s", CONTENT), at.file("t")
    before, kept = os.stat(path), os.stat(source)
    yield
    works(os.copy_file_range, at.open(source, os.O_RDONLY), at.open(path), 100)
    after = os.stat(path)
    expect(after.st_mtime_ns > before.st_mtime_ns, True, "a later mtime")
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")
    expect(os.stat(source).st_mtime_ns, kept.st_mtime_ns)


@row("sendfile", "from a file to a {target}", target=("file", "socket"))
def sending(at, target):
    import socket
    source = at.open(at.file("s", CONTENT), os.O_RDONLY)
    if target == "file":
        path = at.file("t")
        expect(works(os.sendfile, at.open(path), source, 0, 10_000), 10_000)
        expect(content(path) == CONTENT[:10_000], True, "content")
    else:
        one, other = socket.socketpair()
        with one, other:
            expect(works(os.sendfile, one.fileno(), source, 5, 100), 100)
            expect(other.recv(1000), CONTENT[5:105])


@row("splice", "between a pipe and a file")
def splicing(at):
    reader, writer = os.pipe()
    at.after(os.close, reader)
    at.after(os.close, writer)
    path = at.file("t")
    expect(works(os.splice, at.open(at.file("s", CONTENT), os.O_RDONLY), writer, 4096), 4096)
    expect(works(os.splice, reader, at.open(path), 4096), 4096)
    expect(content(path) == CONTENT[:4096], True, "content")


@row("ioctl", "{request:#x} that nothing knows", request=(0x1234, 0xDEAD, 0x40087777))
def unknown_ioctl(at, request):
    import fcntl
    fails("ENOTTY", fcntl.ioctl, at.open(at.file()), request, b"\0" * 64)
    fails("ENOTTY", fcntl.ioctl, at.open(at.path, os.O_DIRECTORY), request, b"\0" * 64)


@row("ioctl", "FIONREAD says how much is left")
def left_to_read(at):
    import fcntl
    import struct
    descriptor = at.open(at.file(content=b"x" * 100))
    os.lseek(descriptor, 30, os.SEEK_SET)
    expect(struct.unpack("i", works(fcntl.ioctl, descriptor, 0x541B, b"\0" * 4))[0], 70)
