"""flock(2), fcntl(2) record locks and open file description locks."""
import errno
import fcntl
import os
import signal
import struct
import threading

from table import answer, expect, fails, forked, row, works

F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW = 36, 37, 38
WAYS = ("flock", "fcntl", "OFD")
KINDS = {"shared": fcntl.F_RDLCK, "exclusive": fcntl.F_WRLCK, "none": fcntl.F_UNLCK}


def record(kind, start=0, length=0):
    return struct.pack("hhqqi4x", KINDS[kind], os.SEEK_SET, start, length, 0)


def lock(how, descriptor, kind, start=0, length=0, wait=False):
    if how == "flock":
        number = {"shared": fcntl.LOCK_SH, "exclusive": fcntl.LOCK_EX, "none": fcntl.LOCK_UN}[kind]
        fcntl.flock(descriptor, number | (0 if wait else fcntl.LOCK_NB))
    elif how == "fcntl":
        fcntl.fcntl(descriptor, fcntl.F_SETLKW if wait else fcntl.F_SETLK, record(kind, start, length))
    else:
        fcntl.fcntl(descriptor, F_OFD_SETLKW if wait else F_OFD_SETLK, record(kind, start, length))


def elsewhere(action):
    """What a child process finds: its answer, an errno's name or OK."""
    reader, writer = os.pipe()
    child = forked(lambda: os.write(writer, answer(action).encode()))
    os.close(writer)
    told = os.read(reader, 100).decode()
    os.close(reader)
    os.waitpid(child, 0)
    return told


def child_lock(path, how, kind, start=0, length=0):
    return elsewhere(lambda: lock(how, os.open(path, os.O_RDWR), kind, start, length))


@row("lock", "{how}: {held} here, {wanted} by another process", how=WAYS, held=("shared", "exclusive"),
     wanted=("shared", "exclusive"))
def conflict(at, how, held, wanted):
    path = at.file(content=b"x" * 100)
    descriptor = at.open(path)
    works(lock, how, descriptor, held)
    free = held == wanted == "shared"
    expect(child_lock(path, how, wanted), "OK" if free else {"EAGAIN", "EACCES"})
    works(lock, how, descriptor, "none")
    expect(child_lock(path, how, wanted), "OK", "after unlocking")


@row("lock", "{how}: ranges {mine} and {theirs}", how=("fcntl", "OFD"), mine=((0, 10), (10, 10), (50, 0)),
     theirs=((0, 5), (5, 10), (20, 10), (60, 1), (0, 0)))
def ranges(at, how, mine, theirs):
    path = at.file(content=b"x" * 100)
    works(lock, how, at.open(path), "exclusive", *mine)
    ends = [start + length if length else 1 << 62 for start, length in (mine, theirs)]
    overlap = mine[0] < ends[1] and theirs[0] < ends[0]
    expect(child_lock(path, how, "exclusive", *theirs), {"EAGAIN", "EACCES"} if overlap else "OK")


@row("lock", "{how} ends when its descriptor is closed", how=WAYS)
def closed(at, how):
    path = at.file()
    descriptor = at.open(path)
    works(lock, how, descriptor, "exclusive")
    os.close(descriptor)
    expect(child_lock(path, how, "exclusive"), "OK")


@row("lock", "{how}: {what} keeps or ends it", how=WAYS, what=("closing another descriptor", "closing a duplicate"))
def other_descriptor(at, how, what):
    path = at.file()
    descriptor = at.open(path)
    works(lock, how, descriptor, "exclusive")
    os.close(os.dup(descriptor) if what.endswith("duplicate") else os.open(path, os.O_RDWR))
    # Only a record lock of the process goes with any of its descriptors.
    expect(child_lock(path, how, "exclusive"), "OK" if how == "fcntl" else {"EAGAIN", "EACCES"})


@row("lock", "{how}: two descriptors of one process", how=WAYS)
def same_process(at, how):
    path = at.file()
    works(lock, how, at.open(path), "exclusive")
    fails("OK" if how == "fcntl" else "EAGAIN", lock, how, at.open(path), "exclusive")


@row("lock", "{how} from shared to exclusive and back", how=WAYS)
def converted(at, how):
    path = at.file()
    descriptor = at.open(path)
    for kind in ("shared", "exclusive", "shared"):
        works(lock, how, descriptor, kind)
        expect(child_lock(path, how, "shared"), "OK" if kind == "shared" else {"EAGAIN", "EACCES"})


@row("lock", "{how} waits until the other lets go", how=WAYS)
def waits(at, how):
    path = at.file()
    descriptor = at.open(path)
    reader, writer = os.pipe()

    def hold():
        lock(how, os.open(path, os.O_RDWR), "exclusive")
        os.write(writer, b"held")
        threading.Event().wait(0.05)
        os.write(writer, b"free")

    child = forked(hold)
    expect(os.read(reader, 4), b"held")
    works(lock, how, descriptor, "exclusive", wait=True)
    os.set_blocking(reader, False)
    expect(os.read(reader, 4), b"free", "let go first")
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)


@row("lock", "{how}: a signal ends the wait", how=WAYS)
def interrupted(at, how):
    path = at.file()
    works(lock, how, at.open(path), "exclusive")

    def arrived(*_):
        raise OSError(errno.EINTR, "")

    def wait():
        descriptor = os.open(path, os.O_RDWR)
        signal.signal(signal.SIGALRM, arrived)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        lock(how, descriptor, "exclusive", wait=True)

    expect(elsewhere(wait), "EINTR")


@row("lock", "fcntl: two who wait for each other")
def deadlock(at):
    path = at.file(content=b"xx")
    descriptor = at.open(path)
    lock("fcntl", descriptor, "exclusive", 0, 1)
    reader, writer = os.pipe()

    def hold_and_wait():
        other = os.open(path, os.O_RDWR)
        lock("fcntl", other, "exclusive", 1, 1)
        os.write(writer, b"held")
        lock("fcntl", other, "exclusive", 0, 1, wait=True)

    child = forked(hold_and_wait)
    os.read(reader, 4)
    code = "the child never waited"
    for _ in range(200):    # the child may not wait yet: then this one would wait for it
        threading.Event().wait(0.01)
        with open("/proc/locks") as file:
            if any("->" in line and f" {child} " in line for line in file):
                code = answer(lock, "fcntl", descriptor, "exclusive", 1, 1, wait=True)
                break
    lock("fcntl", descriptor, "none")
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)
    expect(code, "EDEADLK")


@row("lock", "fcntl F_GETLK names the holder")
def holder(at):
    path = at.file()
    lock("fcntl", at.open(path), "exclusive", 5, 7)
    me = os.getpid()

    def ask():
        found = fcntl.fcntl(os.open(path, os.O_RDWR), fcntl.F_GETLK, record("exclusive"))
        kind, _, start, length, process = struct.unpack("hhqqi4x", found)
        if (kind, start, length, process) != (fcntl.F_WRLCK, 5, 7, me):
            raise OSError(errno.EBADMSG, "")

    expect(elsewhere(ask), "OK")


@row("lock", "{how}: {kind} with a descriptor for {access} only", how=("fcntl", "OFD"), kind=("shared", "exclusive"),
     access=("reading", "writing"))
def wrong_access(at, how, kind, access):
    descriptor = at.open(at.file(), os.O_RDONLY if access == "reading" else os.O_WRONLY)
    allowed = (kind == "shared") == (access == "reading")
    fails("OK" if allowed else "EBADF", lock, how, descriptor, kind)


@row("lock", "flock {kind} of a directory and of a reading descriptor", kind=("shared", "exclusive"))
def any_descriptor(at, kind):
    works(lock, "flock", at.open(at.path, os.O_DIRECTORY), kind)
    works(lock, "flock", at.open(at.file(), os.O_RDONLY), kind)


@row("lock", "flock with the operation {operation}", operation=(0, 3, 16))
def wrong_operation(at, operation):
    fails("EINVAL", fcntl.flock, at.open(at.file()), operation)


@row("lock", "flock and fcntl do not know of each other")
def independent(at):
    path = at.file()
    works(lock, "flock", at.open(path), "exclusive")
    expect(child_lock(path, "fcntl", "exclusive"), "OK")


@row("lock", "{how} of a process that is killed", how=WAYS)
def killed(at, how):
    path = at.file()
    reader, writer = os.pipe()

    def hold():
        lock(how, os.open(path, os.O_RDWR), "exclusive")
        os.write(writer, b"held")
        signal.pause()

    child = forked(hold)
    os.read(reader, 4)
    expect(child_lock(path, how, "exclusive"), {"EAGAIN", "EACCES"})
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)
    expect(child_lock(path, how, "exclusive"), "OK")


@row("lock", "{how} is kept by the file, not by the name: after {act}", how=WAYS, act=("rename", "unlink and link"))
def kept_by_file(at, how, act):
    path = at.file()
    os.link(path, at("other"))
    works(lock, how, at.open(path), "exclusive")
    os.rename(path, at("moved")) if act == "rename" else os.unlink(path)
    expect(child_lock(at("other"), how, "exclusive"), {"EAGAIN", "EACCES"})
