"""getdents64(2), readdir(3), seekdir(3), telldir(3), rewinddir(3)."""
import ctypes
import os
import stat

import calls
from place import KINDS, TYPES
from table import expect, fails, row, works

libc = ctypes.CDLL(None, use_errno=True)


class Entry(ctypes.Structure):
    _fields_ = [("inode", ctypes.c_ulong), ("position", ctypes.c_long), ("length", ctypes.c_ushort),
                ("kind", ctypes.c_ubyte), ("name", ctypes.c_char * 256)]


libc.opendir.restype, libc.opendir.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
libc.readdir.restype, libc.readdir.argtypes = ctypes.POINTER(Entry), [ctypes.c_void_p]
libc.telldir.restype, libc.telldir.argtypes = ctypes.c_long, [ctypes.c_void_p]
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
libc.rewinddir.argtypes = libc.closedir.argtypes = [ctypes.c_void_p]


class Stream:
    """A directory stream of the C library."""

    def __init__(self, at, path):
        self.raw = libc.opendir(os.fsencode(path))
        at.after(libc.closedir, self.raw)

    def next(self):
        entry = libc.readdir(self.raw)
        return entry.contents.name if entry else None

    def rest(self):
        names = []
        while (name := self.next()) is not None:
            names.append(name)
        return names

    def tell(self):
        return libc.telldir(self.raw)

    def seek(self, position):
        libc.seekdir(self.raw, position)

    def rewind(self):
        libc.rewinddir(self.raw)


def everything(descriptor, size=32_768):
    entries = []
    while found := calls.getdents(descriptor, size):
        entries += found
    return entries


@row("getdents", "a {kind}: its inode and type", kind=KINDS)
def types(at, kind):
    path = at.make(kind)
    found = {name: (inode, type) for inode, _, type, name in everything(at.open(at.path, os.O_DIRECTORY))}
    expect(set(found), {b".", b"..", b"x"})
    expect(found[b"x"], (os.lstat(path).st_ino, TYPES[kind] >> 12))
    expect(found[b"."], (os.stat(at.path).st_ino, stat.S_IFDIR >> 12))
    expect(found[b".."][1], stat.S_IFDIR >> 12)


@row("getdents", "{count} entries with a buffer of {size} bytes: each once", count=(0, 1, 100, 1000),
     size=(280, 1000, 4096, 32_768, 1 << 20))
def complete(at, count, size):
    wanted = {b".", b".."}
    for number in range(count):
        os.close(os.open(at(f"name {number}"), os.O_CREAT | os.O_WRONLY))
        wanted.add(f"name {number}".encode())
    for _ in range(2):      # the second is answered from what the kernel keeps
        names = [name for _, _, _, name in everything(at.open(at.path, os.O_DIRECTORY), size)]
        expect((len(names), set(names) == wanted), (count + 2, True), "names")


@row("getdents", "a buffer of {size} bytes is too small", size=(0, 1, 20))
def too_small(at, size):
    at.file("a name")
    fails("EINVAL", calls.getdents, at.open(at.path, os.O_DIRECTORY), size)


@row("getdents", "of a {kind}", kind=("file", "fifo", "closed descriptor", "O_PATH descriptor"))
def wrong_descriptor(at, kind):
    if kind == "closed descriptor":
        fails("EBADF", calls.getdents, 99999, 1000)
    elif kind == "O_PATH descriptor":
        fails("EBADF", calls.getdents, at.open(at.path, os.O_PATH), 1000)
    else:
        fails("ENOTDIR", calls.getdents, at.open(at.make(kind), os.O_RDWR), 1000)


@row("getdents", "of a directory that was removed")
def removed(at):
    descriptor = at.open(at.directory(), os.O_DIRECTORY)
    os.rmdir(at("d"))
    fails({"ENOENT", "OK"}, calls.getdents, descriptor, 1000)


@row("readdir", "seekdir to every place that telldir named, {count} entries", count=(3, 200))
def seeking(at, count):
    for number in range(count):
        at.file(f"n{number}")
    stream = Stream(at, at.path)
    order = []
    while True:
        place = stream.tell()
        name = stream.next()
        if name is None:
            break
        order.append((place, name))
    expect(len(order), count + 2)
    for place, name in reversed(order):
        stream.seek(place)
        expect(stream.next(), name)
    stream.seek(order[1][0])
    expect(stream.rest(), [name for _, name in order[1:]])


@row("readdir", "rewinddir shows what was {change} meanwhile", change=("made", "removed", "renamed"))
def rewinding(at, change):
    at.file("a")
    stream = Stream(at, at.path)
    expect(set(stream.rest()), {b".", b"..", b"a"})
    if change == "made":
        at.file("b")
    elif change == "removed":
        os.unlink(at("a"))
    else:
        os.rename(at("a"), at("b"))
    stream.rewind()
    expect(set(stream.rest()), {b".", b".."} | {"made": {b"a", b"b"}, "removed": set(), "renamed": {b"b"}}[change])


@row("readdir", "what is not touched is listed once while {count} others are {change}", count=(200, 1200),
     change=("removed", "made", "removed as they are listed"))
def changing(at, count, change):
    stay = {f"stay {number}".encode() for number in range(count)}
    for name in sorted(stay):
        os.close(os.open(os.fsencode(at.path) + b"/" + name, os.O_CREAT | os.O_WRONLY))
    for number in range(0 if change == "made" else count):
        os.close(os.open(at(f"go {number}"), os.O_CREAT | os.O_WRONLY))
    stream = Stream(at, at.path)
    seen = [stream.next() for _ in range(count // 2)]
    if change == "removed as they are listed":
        while (name := stream.next()) is not None:
            seen.append(name)
            if name.startswith(b"go"):
                os.unlink(os.fsencode(at.path) + b"/" + name)
    else:
        for number in range(count):
            path = at(f"go {number}")
            os.unlink(path) if change == "removed" else os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        seen += stream.rest()
    kept = [name for name in seen if name in stay]
    expect((len(kept), set(kept) == stay), (count, True), "the untouched")


@row("readdir", "rm -r as it lists, {count} entries: nothing is left", count=(100, 2000))
def removal(at, count):
    at.directory()
    for number in range(count):
        os.close(os.open(at(f"d/{number}"), os.O_CREAT | os.O_WRONLY))
    rounds = 0
    while rounds < 100:
        rounds += 1
        stream, found = Stream(at, at("d")), 0
        while (name := stream.next()) is not None:
            if name not in (b".", b".."):
                os.unlink(os.fsencode(at("d")) + b"/" + name)
                found += 1
        if not found:
            break
    works(os.rmdir, at("d"))


@row("readdir", "after {change} the next listing shows it at once",
     change=("mkdir", "unlink", "rename", "link", "symlink",
                                                                       "rename over", "exchange", "mknod"))
def fresh(at, change):
    at.file("a")
    at.file("b")
    expect(sorted(os.listdir(at.path)), ["a", "b"])
    {"mkdir": lambda: os.mkdir(at("c")), "unlink": lambda: os.unlink(at("a")),
     "rename": lambda: os.rename(at("a"), at("c")), "link": lambda: os.link(at("a"), at("c")),
     "symlink": lambda: os.symlink("a", at("c")), "rename over": lambda: os.rename(at("a"), at("b")),
     "exchange": lambda: calls.renameat2(at("a"), at("b"), calls.EXCHANGE),
     "mknod": lambda: os.mkfifo(at("c"))}[change]()
    wanted = {"unlink": ["b"], "rename": ["b", "c"], "rename over": ["b"], "exchange": ["a", "b"]}
    expect(sorted(os.listdir(at.path)), wanted.get(change, ["a", "b", "c"]))
    inodes = {name.decode(): inode for inode, _, _, name in everything(at.open(at.path, os.O_DIRECTORY))}
    for name in os.listdir(at.path):
        expect(inodes[name], os.lstat(at(name)).st_ino, f"inode of {name}")


@row("lseek", "of a directory to 0 lists it anew")
def rewound(at):
    at.file("a")
    descriptor = at.open(at.path, os.O_DIRECTORY)
    first = everything(descriptor)
    expect(works(os.lseek, descriptor, 0, os.SEEK_SET), 0)
    expect(everything(descriptor), first)
