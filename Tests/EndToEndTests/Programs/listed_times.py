"""Punches holes into a file whose time is long ago while other processes change and list its directory: the file's time is the
hole's at once, whatever an older listing's answer says that reaches the kernel later.

usage: listed_times.py DIRECTORY TIMES
"""
import ctypes
import os
import subprocess
import sys

KEEP_SIZE, PUNCH_HOLE = 1, 2
LONG_AGO, LISTERS = 11, 6
LISTING = """
import os, sys
own = f"{sys.argv[1]}/{os.getpid()}"
while True:
    open(own, "w").close()
    os.listdir(sys.argv[1])
    os.unlink(own)
"""
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]


def main(directory, times):
    os.mkdir(directory)
    file = os.open(f"{directory}/document", os.O_RDWR | os.O_CREAT)
    os.ftruncate(file, 100_000)
    listers = [subprocess.Popen([sys.executable, "-c", LISTING, directory]) for _ in range(LISTERS)]
    stale = 0
    try:
        for _ in range(times):
            os.utime(file, (LONG_AGO, LONG_AGO))
            if libc.fallocate(file, KEEP_SIZE | PUNCH_HOLE, 0, 1) != 0:
                raise OSError(ctypes.get_errno(), "fallocate")
            stale += os.fstat(file).st_mtime == LONG_AGO
        if any(lister.poll() is not None for lister in listers):
            sys.exit("a listing ended")
    finally:
        for lister in listers:
            lister.kill()
            lister.wait()
    if stale:
        sys.exit(f"{stale} of {times} times the former time was told after a hole was punched")


main(sys.argv[1], int(sys.argv[2]))
