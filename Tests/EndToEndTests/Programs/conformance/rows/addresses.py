"""Pointers that point nowhere: EFAULT, and the process lives."""
import ctypes
import os

import calls
from table import fails, row

BAD = 1     # no page is there
syscall = calls._raw(*[ctypes.c_long] * 6)

# System call number and arguments; BAD is the path, or what is read or written.
CALLS = {
    "open": (2, BAD, 0, 0), "stat": (4, BAD, BAD), "lstat": (6, BAD, BAD), "access": (21, BAD, 0),
    "mkdir": (83, BAD, 0o755), "rmdir": (84, BAD), "creat": (85, BAD, 0o644), "unlink": (87, BAD),
    "chmod": (90, BAD, 0o644), "chown": (92, BAD, 0, 0), "lchown": (94, BAD, 0, 0), "truncate": (76, BAD, 0),
    "mknod": (133, BAD, 0o100644, 0), "statfs": (137, BAD, BAD), "chdir": (80, BAD), "readlink": (89, BAD, BAD, 10),
    "utimensat": (280, -100, BAD, 0, 0), "getxattr": (191, BAD, BAD, 0, 0), "symlink": (88, BAD, BAD),
    "link": (86, BAD, BAD), "rename": (82, BAD, BAD),
}


@row("path", "{call} with a bad address", call=CALLS)
def bad_path(at, call):
    del at
    number, *arguments = CALLS[call]
    fails("EFAULT", syscall, number, *(arguments + [0] * 5)[:5])


@row("read and write", "{call} of {size} bytes at a bad address", call=("read", "write"), size=(1, 4096, 1 << 20))
def bad_buffer(at, call, size):
    descriptor = at.open(at.file(content=b"x" * size))
    fails("EFAULT", syscall, 0 if call == "read" else 1, descriptor, BAD, size, 0, 0)
    fails("OK", os.pread, descriptor, 1, 0)


@row("stat", "a bad address for the answer of {call}", call=("fstat", "fstatfs", "getdents64"))
def bad_answer(at, call):
    descriptor = at.open(at.path, os.O_DIRECTORY)
    fails("EFAULT", syscall, {"fstat": 5, "fstatfs": 138, "getdents64": 217}[call], descriptor, BAD, 4096, 0, 0)


@row("getxattr", "a bad address for the {part}", part=("value", "name"))
def bad_attribute(at, part):
    path = at.file()
    os.setxattr(path, "user.a", b"value")
    name = ctypes.create_string_buffer(b"user.a")
    target = ctypes.create_string_buffer(os.fsencode(path))
    address = ctypes.addressof(name) if part == "value" else BAD
    fails("EFAULT", syscall, 191, ctypes.addressof(target), address, BAD, 100, 0)
