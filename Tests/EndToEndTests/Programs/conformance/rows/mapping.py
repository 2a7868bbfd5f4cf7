"""mmap(2), msync(2), and mappings of files that change."""
import mmap
import os
import signal

from table import answer, expect, fails, forked, row, works

PAGE = mmap.PAGESIZE
CONTENT = bytes(range(1, 256)) * 100


def content(path):
    with open(path, "rb") as file:
        return file.read()


@row("mmap", "a {kind} mapping of a file opened with {access}, {protection}", kind=("shared", "private"),
     access=("O_RDONLY", "O_WRONLY", "O_RDWR"), protection=("read", "write"))
def rights(at, kind, access, protection):
    descriptor = at.open(at.file(content=CONTENT), getattr(os, access))
    flags = mmap.MAP_SHARED if kind == "shared" else mmap.MAP_PRIVATE
    wanted_protection = mmap.PROT_READ | (mmap.PROT_WRITE if protection == "write" else 0)
    refused = access == "O_WRONLY" or access == "O_RDONLY" and kind == "shared" and protection == "write"
    fails("EACCES" if refused else "OK", mmap.mmap, descriptor, 100, flags, wanted_protection)


@row("mmap", "what is written to a shared mapping is read from the file at once, at {place}",
     place=(0, 1, PAGE, 3 * PAGE + 7))
def shared(at, place):
    path = at.file(content=CONTENT)
    descriptor = at.open(path)
    with mmap.mmap(descriptor, len(CONTENT)) as view:
        view[place:place + 5] = b"\0\0\0\0\0"
        wanted = CONTENT[:place] + bytes(5) + CONTENT[place + 5:]
        expect(os.pread(descriptor, 1 << 20, 0) == wanted, True, "by pread")
        expect(content(path) == wanted, True, "by another descriptor")
    expect(content(path) == wanted, True, "after unmapping")


@row("mmap", "what is written to the file is in a shared mapping at once, at {place}", place=(0, 1, PAGE, 3 * PAGE + 7))
def seen(at, place):
    descriptor = at.open(at.file(content=CONTENT))
    with mmap.mmap(descriptor, len(CONTENT)) as view:
        expect(view[:] == CONTENT, True, "before")
        os.pwrite(descriptor, b"\0\0\0\0\0", place)
        expect(view[:] == CONTENT[:place] + bytes(5) + CONTENT[place + 5:], True, "after")


@row("mmap", "what is written to a private mapping never reaches the file")
def private(at):
    path = at.file(content=CONTENT)
    descriptor = at.open(path)
    with mmap.mmap(descriptor, len(CONTENT), mmap.MAP_PRIVATE) as view:
        view[:5] = b"\0\0\0\0\0"
        view.flush()
    expect(content(path) == CONTENT, True, "content")


@row("mmap", "msync: mtime and ctime become now")
def synchronized(at):
    path = at.file(content=CONTENT)
    before = os.stat(path)
    descriptor = at.open(path)
    yield
    with mmap.mmap(descriptor, len(CONTENT)) as view:
        view[:1] = b"\0"
        view.flush()
    os.close(descriptor)
    after = os.stat(path)
    expect(after.st_mtime_ns > before.st_mtime_ns, True, "a later mtime")
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")


@row("mmap", "the last page past the end of the file is zero, and is not written back")
def last_page(at):
    path = at.file(content=b"short")
    descriptor = at.open(path)
    with mmap.mmap(descriptor, 5) as view:
        view[4:5] = b"T"
        view.flush()
    expect(content(path), b"shorT")
    os.ftruncate(descriptor, 10)
    expect(content(path), b"shorT\0\0\0\0\0")


@row("mmap", "after the descriptor was closed and the file removed")
def outlives(at):
    descriptor = at.open(at.file(content=CONTENT))
    with mmap.mmap(descriptor, len(CONTENT)) as view:
        os.close(descriptor)
        os.unlink(at("f"))
        expect(view[:] == CONTENT, True, "content")
        view[:1] = b"\0"
        view.flush()


@row("mmap", "a page that truncate took away: SIGBUS, for {act}", act=("reading", "writing"))
def bus_error(at, act):
    path = at.file(content=bytes(4 * PAGE))
    descriptor = at.open(path)

    def touch():
        view = mmap.mmap(descriptor, 4 * PAGE)
        view[3 * PAGE]
        os.truncate(path, PAGE)
        if act == "reading":
            view[3 * PAGE]
        else:
            view[3 * PAGE] = 1

    _, status = os.waitpid(forked(touch), 0)
    expect(os.WTERMSIG(status) if os.WIFSIGNALED(status) else f"exit {status}", int(signal.SIGBUS))
    expect(os.stat(path).st_size, PAGE)


@row("mmap", "a file that was cut and grew again reads zeros in the mapping")
def cut_and_grown(at):
    path = at.file(content=b"x" * (4 * PAGE))
    descriptor = at.open(path)
    with mmap.mmap(descriptor, 4 * PAGE) as view:
        expect(view[2 * PAGE], ord("x"))
        os.truncate(path, PAGE)
        os.truncate(path, 4 * PAGE)
        expect(view[2 * PAGE], 0)
        expect(view[PAGE - 1], ord("x"))
        view[2 * PAGE] = 7
        expect(os.pread(descriptor, 1, 2 * PAGE), b"\7")


@row("mmap", "of a {kind}", kind=("directory", "fifo"))
def kinds(at, kind):
    flags = os.O_RDONLY if kind == "directory" else os.O_RDWR
    descriptor = at.open(at.make(kind), flags)
    fails({"ENODEV", "EACCES", "EINVAL"}, mmap.mmap, descriptor, 100, mmap.MAP_SHARED, mmap.PROT_READ)


@row("mmap", "two processes share what they write")
def processes(at):
    descriptor = at.open(at.file(content=bytes(PAGE)))

    def write():
        mmap.mmap(descriptor, PAGE)[:5] = b"child"

    os.waitpid(forked(write), 0)
    with mmap.mmap(descriptor, PAGE) as view:
        expect(view[:5], b"child")


@row("mmap", "a mapping and O_APPEND: written back in place")
def append(at):
    path = at.file(content=b"start" + bytes(PAGE))
    descriptor = at.open(path, os.O_RDWR | os.O_APPEND)
    with mmap.mmap(descriptor, 5) as view:
        view[:5] = b"START"
        view.flush()
    os.write(descriptor, b"end")
    os.fsync(descriptor)
    expect(content(path), b"START" + bytes(PAGE) + b"end")


@row("execve", "a program from here runs, {how}", how=("in place", "through a symlink"))
def runs(at, how):
    path = program(at)
    if how != "in place":
        os.symlink(path, at("l"))
        path = at("l")
    expect(os.spawnv(os.P_WAIT, path, ["true"]), 0)


@row("execve", "a program that runs: {act}",
     act=("open(O_WRONLY)", "open(O_RDWR)", "truncate", "open(O_RDONLY)", "unlink",
                                                "rename over", "chmod"))
def busy(at, act):
    path = program(at, "/bin/sleep")
    process = os.spawnv(os.P_NOWAIT, path, ["sleep", "60"])
    try:
        while "sleep" not in os.readlink(f"/proc/{process}/exe").rsplit("/", 1)[-1]:
            pass        # until it runs the program
        new = at.file("new")
        call = {"open(O_WRONLY)": lambda: at.open(path, os.O_WRONLY), "open(O_RDWR)": lambda: at.open(path),
                "truncate": lambda: os.truncate(path, 0), "open(O_RDONLY)": lambda: at.open(path, os.O_RDONLY),
                "unlink": lambda: os.unlink(path), "rename over": lambda: os.rename(new, path),
                "chmod": lambda: os.chmod(path, 0o700)}[act]
        fails("ETXTBSY" if act in ("open(O_WRONLY)", "open(O_RDWR)", "truncate") else "OK", call)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


@row("execve", "a program that is open for writing")
def open_program(at):
    path = program(at)
    descriptor = at.open(path, os.O_WRONLY)
    expect(execution(path), "ETXTBSY")
    os.close(descriptor)
    expect(execution(path), "OK")


def execution(path):
    """What execve answers, told by a child."""
    reader, writer = os.pipe()
    child = forked(lambda: os.write(writer, answer(os.execv, path, ["x"]).encode()))
    os.close(writer)
    told = os.read(reader, 100).decode()
    os.close(reader)
    os.waitpid(child, 0)
    return told or "OK"


def program(at, original="/bin/true"):
    with open(original, "rb") as file:
        text = file.read()
    return works(at.file, "sleep" if "sleep" in original else "true", text, 0o755)
