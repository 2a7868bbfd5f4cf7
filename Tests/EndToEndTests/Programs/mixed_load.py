"""Does every kind of call in a directory, at random, until it is killed. What others remove meanwhile is no error.

usage: mixed_load.py DIRECTORY SEED
"""
import errno
import fcntl
import mmap
import os
import random
import sys

EXPECTED = {errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.ESTALE, errno.EINVAL,
            errno.ELOOP, errno.EMLINK, errno.EAGAIN, errno.ENODATA, errno.EPERM, errno.EBUSY}


def write(path, chance):
    with open(path, "ab" if chance.random() < 0.5 else "wb") as file:
        file.write(b"x" * chance.randrange(200_000))
        if chance.random() < 0.2:
            file.flush()
            os.fsync(file.fileno())


def read(path, _):
    with open(path, "rb") as file:
        file.read()


def map_and_cut(path, chance):
    # A file of this process alone: what others cut under a mapping gives it SIGBUS, as on a disk.
    with open(f"{os.path.dirname(path)}/mapped{os.getpid()}", "a+b") as file:
        os.ftruncate(file.fileno(), 8192)
        with mmap.mmap(file.fileno(), 8192) as view:
            view[chance.randrange(4096)] = 1
            os.ftruncate(file.fileno(), 4096)


def lock(path, _):
    with open(path, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def copy(path, _):
    with open(path, "rb") as source, open(path + "c", "wb") as target:
        os.copy_file_range(source.fileno(), target.fileno(), 1 << 20)


CALLS = [
    write, write, read, map_and_cut, lock, copy,
    lambda path, chance: os.rename(path, path[:-1] + chance.choice("0123456789")),
    lambda path, _: os.unlink(path),
    lambda path, _: os.mkdir(path + "d"),
    lambda path, _: os.rmdir(path + "d"),
    lambda path, _: os.link(path, path + "l"),
    lambda path, _: os.symlink(path, path + "s"),
    lambda path, chance: os.truncate(path, chance.randrange(100_000)),
    lambda path, _: os.chmod(path, 0o600),
    lambda path, _: os.utime(path),
    lambda path, _: os.setxattr(path, "user.a", b"v"),
    lambda path, _: os.getxattr(path, "user.a"),
    lambda path, _: os.listdir(os.path.dirname(path)),
    lambda path, _: os.statvfs(path),
]


def main():
    root, chance = sys.argv[1], random.Random(int(sys.argv[2]))
    while True:
        try:
            os.makedirs(root, exist_ok=True)
            chance.choice(CALLS)(f"{root}/{chance.randrange(5)}{chance.randrange(10)}", chance)
        except OSError as error:
            if error.errno not in EXPECTED:
                sys.exit(f"{errno.errorcode[error.errno]}: {error}")
        except ValueError:
            pass        # an empty file cannot be mapped


if __name__ == "__main__":
    main()
