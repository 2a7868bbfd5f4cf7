"""renameat2(2) with RENAME_EXCHANGE."""
import os
import stat

import calls
from place import KINDS
from table import expect, fails, row, works


def identity(path):
    status = os.lstat(path)
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns


def exchange(one, other):
    calls.renameat2(one, other, calls.EXCHANGE)


@row("renameat2", "EXCHANGE: a {one} and a {other} {where}", one=KINDS, other=KINDS,
     where=("beside each other", "in two directories"))
def both(at, one, other, where):
    at.directory("d")
    first, second = at.make(one), at.make(other, "y" if where.startswith("beside") else "d/y")
    before = identity(first), identity(second)
    works(exchange, first, second)
    expect((identity(second), identity(first)), before)


@row("renameat2", "EXCHANGE: a {one} and a {other}, times of both directories and of both files",
     one=KINDS, other=KINDS)
def times(at, one, other):
    paths = [at.directory("a"), at.directory("b"), at.make(one, "a/x"), at.make(other, "b/y")]
    before = [os.lstat(path) for path in paths]
    yield
    works(exchange, paths[2], paths[3])
    after = [os.lstat(path) for path in (paths[0], paths[1], paths[3], paths[2])]
    for was, now in zip(before, after):
        expect(now.st_ctime_ns > was.st_ctime_ns, True, "a later ctime")
    for was, now in zip(before[:2], after[:2]):
        expect(now.st_mtime_ns > was.st_mtime_ns, True, "a later mtime of the directory")


@row("renameat2", "EXCHANGE: {missing} is not there", missing=("the first", "the second", "both"))
def missing(at, missing):
    if missing != "both":
        at.file("y" if missing == "the first" else "x")
    fails("ENOENT", exchange, at("x"), at("y"))


@row("renameat2", "EXCHANGE: a directory and something inside it")
def nested(at):
    os.makedirs(at("a/b"))
    fails("EINVAL", exchange, at("a"), at("a/b"))
    fails({"EINVAL", "ENOTEMPTY"}, exchange, at("a/b"), at("a"))


@row("renameat2", "EXCHANGE: a {kind} with itself", kind=KINDS)
def itself(at, kind):
    before = identity(at.make(kind))
    works(exchange, at("x"), at("x"))
    expect(identity(at("x")), before)


@row("renameat2", "EXCHANGE: a directory and a file in two directories, link counts of both")
def link_counts(at):
    at.directory("a")
    at.directory("b")
    at.directory("a/d")
    at.file("b/f")
    before = os.stat(at("a")).st_nlink, os.stat(at("b")).st_nlink
    works(exchange, at("a/d"), at("b/f"))
    if before == (3, 2):    # where directories count their children
        expect((os.stat(at("a")).st_nlink, os.stat(at("b")).st_nlink), (2, 3))
    expect(stat.S_ISDIR(os.lstat(at("b/f")).st_mode), True)


@row("renameat2", "EXCHANGE: two directories, what is below them goes with them")
def content(at):
    at.directory("a")
    at.directory("b")
    at.file("a/of a")
    at.file("b/of b")
    works(exchange, at("a"), at("b"))
    expect((os.listdir(at("a")), os.listdir(at("b"))), (["of b"], ["of a"]))
    at.file("a/new")
    expect(sorted(os.listdir(at("a"))), ["new", "of b"])


@row("renameat2", "EXCHANGE: open descriptors follow their files")
def descriptors(at):
    first, second = at.open(at.file("x", b"one")), at.open(at.file("y", b"two"))
    works(exchange, at("x"), at("y"))
    os.pwrite(first, b"ONE", 0)
    os.pwrite(second, b"TWO", 0)
    found = []
    for name in ("x", "y"):
        with open(at(name), "rb") as file:
            found.append(file.read())
    expect(found, [b"TWO", b"ONE"])
