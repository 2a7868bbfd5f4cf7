"""stat(2), fstat(2), statvfs(3), and numbers that must agree."""
import os

from place import KINDS
from table import expect, row, works


@row("stat", "of a {kind}: by path, by descriptor, by directory and twice, it is the same", kind=KINDS)
def same(at, kind):
    path = at.make(kind)
    first = os.lstat(path)
    expect(os.lstat(path), first, "twice")
    expect(os.stat("x", dir_fd=at.open(at.path, os.O_DIRECTORY), follow_symlinks=False), first, "by directory")
    expect(os.fstat(at.open(path, os.O_PATH | os.O_NOFOLLOW)), first, "by descriptor")


@row("stat", "st_size and st_blocks after {size} bytes were written at {offset}", size=(0, 1, 4096, 100_000),
     offset=(0, 1 << 20, 1 << 40))
def sizes(at, size, offset):
    path = at.file()
    descriptor = at.open(path)
    os.pwrite(descriptor, b"x" * size, offset)
    status = os.stat(path)
    expect(status.st_size, offset + size if size else 0)
    os.fsync(descriptor)
    expect(size <= os.stat(path).st_blocks * 512 < size + (1 << 17), True, "blocks")


@row("stat", "two files have different inodes, the same one always the same")
def inodes(at):
    paths = [at.make("file", name) for name in "abc"]
    expect(len({os.stat(path).st_ino for path in paths}), 3)
    expect(len({os.stat(path).st_dev for path in paths + [at.path]}), 1)
    before = os.stat(paths[0]).st_ino
    os.rename(paths[0], at("z"))
    expect(os.stat(at("z")).st_ino, before)


@row("statvfs", "of a {kind}", kind=("file", "directory", "fifo", "descriptor"))
def space(at, kind):
    found = works(os.statvfs, at.open(at.file()) if kind == "descriptor" else at.make(kind))
    expect(found.f_namemax, 255)
    expect(0 <= found.f_bavail <= found.f_bfree <= found.f_blocks, True, "free of all")
    expect(found.f_bsize >= 512 and found.f_frsize >= 512, True, "block size")
    expect(found.f_files == 0 or found.f_ffree <= found.f_files, True, "inodes")


@row("statvfs", "what is written is taken from what is free")
def used(at):
    def taken(name):
        before = os.statvfs(at.path)
        descriptor = at.open(at.file(name))
        os.posix_fallocate(descriptor, 0, 256 << 20)
        after = os.statvfs(at.path)
        os.ftruncate(descriptor, 0)
        return (before.f_bfree * before.f_frsize) - (after.f_bfree * after.f_frsize) > 128 << 20

    # Others may free as much on the same file system meanwhile.
    expect(any(taken(f"f{attempt}") for attempt in range(5)), True, "less is free")
