"""Names: every byte but / and NUL, up to 255 of them, kept as they are."""
import os

from table import expect, fails, row, works

BYTES = [byte for byte in range(1, 256) if byte != 0x2F]


@row("name", "of the byte {byte:#04x}: {kind}",
     byte=[byte for byte in BYTES if byte != 0x2E], kind=("alone", "in the middle"))
def every_byte(at, byte, kind):
    root = os.fsencode(at.path)
    name = bytes([byte]) if kind == "alone" else b"a" + bytes([byte]) + b"b"
    works(os.close, works(os.open, root + b"/" + name, os.O_CREAT | os.O_WRONLY))
    expect(os.listdir(root), [name])
    works(os.rename, root + b"/" + name, root + b"/" + name + name)
    expect(os.listdir(root), [name + name])
    works(os.stat, root + b"/" + name + name)
    works(os.unlink, root + b"/" + name + name)
    works(os.mkdir, root + b"/" + name)
    works(os.rmdir, root + b"/" + name)
    expect(os.listdir(root), [])


@row("name", "of {length} bytes {byte:#04x}",
     length=(1, 2, 127, 128, 254, 255), byte=(0x61, 0x0A, 0x20, 0x2A, 0x80, 0xFF))
def long_names(at, length, byte):
    root, name = os.fsencode(at.path), bytes([byte]) * length
    works(os.mkdir, root + b"/" + name)
    expect(os.listdir(root), [name])
    works(os.symlink, name, root + b"/l" if length > 1 or byte != 0x6C else root + b"/k")
    fails("EEXIST", os.mkdir, root + b"/" + name)


@row("name", "of {length} bytes", length=(256, 257, 1000, 4000))
def too_long(at, length):
    for call in (os.mkdir, os.mkfifo, lambda path: os.symlink("x", path), lambda path: os.link(at("f"), path), os.stat):
        if not os.path.lexists(at("f")):
            at.file()
        fails("ENAMETOOLONG", call, at("n" * length))
    expect(os.listdir(at.path), ["f"])


@row("name", "“{name}” is like any other",
     name=("...", " ", "  ", "-rf", "*", "~", "a\\b", "con", "nul", "a:b", "\u00e9", "e\u0301",
                                              "ﬁ", "A", "a", ".fuse_hidden1", ".nfs1", "lost+found", "\u202e",
           ".quire"))
def peculiar(at, name):
    works(os.mkdir, at(name))
    works(os.close, works(os.open, at(f"{name}/{name}"), os.O_CREAT | os.O_WRONLY))
    expect((os.listdir(at.path), os.listdir(at(name))), ([name], [name]))


@row("name", "“{one}” and “{other}” are two", one=("a", "\u00e9", "ß", "x"), other=("A", "e\u0301", "SS", "x "))
def different(at, one, other):
    works(os.mkdir, at(one))
    fails("ENOENT", os.stat, at(other))
    works(os.mkdir, at(other))
    expect(sorted(os.listdir(at.path)), sorted([one, other]))


@row("name", "found as not there, then made by {how}, then found",
     how=("open", "mkdir", "rename", "link", "symlink", "mknod"))
def negative(at, how):
    at.file("source")
    for _ in range(3):
        fails("ENOENT", os.lstat, at("x"))
    {"open": lambda: at.open(at("x"), os.O_CREAT | os.O_WRONLY), "mkdir": lambda: os.mkdir(at("x")),
     "rename": lambda: os.rename(at("source"), at("x")), "link": lambda: os.link(at("source"), at("x")),
     "symlink": lambda: os.symlink("source", at("x")), "mknod": lambda: os.mkfifo(at("x"))}[how]()
    works(os.lstat, at("x"))
