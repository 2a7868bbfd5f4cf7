"""symlink(2), readlink(2)."""
import os

from place import KINDS
from table import expect, fails, row, works
from users import OWNER, STRANGER


@row("symlink", "to “{target}”", target=("x", "/", "..", "no/such/place", "a//b/", "with space", "\n", "ü", "…" * 80))
def content(at, target):
    works(os.symlink, target, at("l"))
    expect(os.readlink(at("l")), target)
    status = os.lstat(at("l"))
    expect((status.st_size, oct(status.st_mode), status.st_nlink), (len(os.fsencode(target)), "0o120777", 1))


@row("symlink", "to a target of {length} bytes",
     length=(1, 59, 60, 61, 127, 128, 255, 256, 1023, 1024, 4000, 4095, 4096, 5000))
def length(at, length):
    if length <= 4095:
        works(os.symlink, "t" * length, at("l"))
        expect((len(os.readlink(at("l"))), os.lstat(at("l")).st_size), (length, length))
    else:
        fails("ENAMETOOLONG", os.symlink, "t" * length, at("l"))
        expect(os.listdir(at.path), [])


@row("symlink", "to the byte {byte:#04x}", byte=range(1, 256))
def every_byte(at, byte):
    works(os.symlink, bytes([byte]), at("l"))
    expect(os.readlink(os.fsencode(at("l"))), bytes([byte]))


@row("symlink", "to nothing")
def empty(at):
    fails("ENOENT", os.symlink, "", at("l"))


@row("readlink", "of a {kind}", kind=KINDS)
def kinds(at, kind):
    fails("OK" if kind == "symlink" else "EINVAL", os.readlink, at.make(kind))


@row("readlink", "twice, and after the link was replaced")
def replaced(at):
    os.symlink("one", at("l"))
    expect((os.readlink(at("l")), os.readlink(at("l"))), ("one", "one"))
    os.unlink(at("l"))
    os.symlink("other", at("l"))
    expect(works(os.readlink, at("l")), "other")
    os.symlink("third", at("new"))
    os.rename(at("new"), at("l"))
    expect(works(os.readlink, at("l")), "third")


@row("readlink", "by a stranger")
def stranger(at):
    at.make("symlink", "l", owner=OWNER)
    with STRANGER:
        expect(works(os.readlink, at("l")), "target")


@row("symlink", "to a {kind} is followed by stat and not by lstat", kind=("file", "directory", "fifo", "socket"))
def followed(at, kind):
    at.make(kind, "target")
    at.make("symlink", "l")
    expect(os.stat(at("l")).st_ino, os.lstat(at("target")).st_ino)
    expect(os.lstat(at("l")).st_ino == os.lstat(at("target")).st_ino, False)


@row("symlink", "with “..” leads from where the link is")
def relative(at):
    os.makedirs(at("a/b"))
    at.file("a/f", b"found")
    os.symlink("../f", at("a/b/l"))
    os.symlink("a/b/l", at("l"))
    with open(at("l"), "rb") as file:
        expect(file.read(), b"found")
