"""Reads a large document that is not here in the ways that programs do. Usage: arriving.py MODE FILE [REFERENCE]"""
import mmap
import os
import sys

mode, path = sys.argv[1:3]
reference = sys.argv[3] if len(sys.argv) > 3 else None


def expect(condition, what):
    if not condition:
        sys.exit(f"{mode}: {what}")


def scattered():
    """Positions from all over the file, the same as in the reference."""
    with open(path, "rb") as file, open(reference, "rb") as original:
        size = os.fstat(file.fileno()).st_size
        expect(size == os.fstat(original.fileno()).st_size, "size")
        for index in range(12):
            offset = (index * 7_368_787) % (size - 5000)
            expect(os.pread(file.fileno(), 5000, offset) == os.pread(original.fileno(), 5000, offset), offset)
        expect(os.pread(file.fileno(), 10, size) == b"", "beyond the end")


def holes():
    """What is not here yet is data, whatever way a program asks."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        expect(os.lseek(file.fileno(), 0, os.SEEK_DATA) == 0, "SEEK_DATA")
        expect(os.lseek(file.fileno(), 5, os.SEEK_HOLE) == status.st_size, "SEEK_HOLE")
        expect(status.st_blocks * 512 >= status.st_size, f"{status.st_blocks} blocks")
        try:
            os.lseek(file.fileno(), status.st_size, os.SEEK_DATA)
            expect(False, "SEEK_DATA at the end")
        except OSError as error:
            expect(error.errno == 6, error)


def mapped():
    """Through a mapping, from the end."""
    with open(path, "rb") as file, open(reference, "rb") as original:
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as map:
            for offset in (len(map) - 100, len(map) // 2, 4096):
                expect(map[offset:offset + 100] == os.pread(original.fileno(), 100, offset), offset)


def copied():
    """copy_file_range to another file of the drive."""
    target = path + ".copy"
    with open(path, "rb") as file, open(target, "wb") as copy:
        left = os.fstat(file.fileno()).st_size
        while left:
            count = os.copy_file_range(file.fileno(), copy.fileno(), left)
            expect(count > 0, "copy_file_range ended")
            left -= count
    expect(open(target, "rb").read() == open(reference, "rb").read(), "copy")
    os.unlink(target)


def held():
    """Keeps the file open while it is read to its end, appended to and emptied by others; steps on standard input."""
    def step(name):
        print(name, flush=True)
        sys.stdin.readline()

    with open(path, "rb", buffering=0) as file:
        first = os.pread(file.fileno(), 100, 0)
        inode = os.fstat(file.fileno()).st_ino
        step("open")
        size = os.fstat(file.fileno()).st_size
        rest = os.pread(file.fileno(), 100, size - 100)
        expect(first == os.pread(file.fileno(), 100, 0), "changed under the handle")
        expect(os.fstat(file.fileno()).st_ino == inode, "inode")
        print(rest[-20:], size, flush=True)
        step("appended")
        now = os.fstat(file.fileno()).st_size
        print(os.pread(file.fileno(), 100, now - 5), flush=True)
        step("emptied")
        print(os.fstat(file.fileno()).st_size, os.pread(file.fileno(), 100, 0), flush=True)


{"scattered": scattered, "holes": holes, "mapped": mapped, "copied": copied, "held": held}[mode]()
