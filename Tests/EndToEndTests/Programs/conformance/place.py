"""Where a row does its work: a fresh directory, and the files of every kind in it."""
import contextlib
import os
import socket
import stat

KINDS = ("file", "directory", "symlink", "fifo", "socket", "block device", "character device")
NOT_LINKS = tuple(kind for kind in KINDS if kind != "symlink")
NOT_DIRECTORIES = tuple(kind for kind in KINDS if kind != "directory")
PLAIN = tuple(kind for kind in NOT_LINKS if kind != "directory")     # neither followed nor entered
DEVICES = ("block device", "character device")
TYPES = {
    "file": stat.S_IFREG, "directory": stat.S_IFDIR, "symlink": stat.S_IFLNK, "fifo": stat.S_IFIFO,
    "socket": stat.S_IFSOCK, "block device": stat.S_IFBLK, "character device": stat.S_IFCHR,
}


class Place:
    """A row's own directory, open to everybody; what the row opens is closed with it."""

    def __init__(self, path):
        self.path = path
        self.opened = contextlib.ExitStack()
        os.mkdir(path)
        os.chmod(path, 0o777)

    def __call__(self, name):
        return f"{self.path}/{name}"

    def make(self, kind, name="x", mode=None, owner=None, content=b""):
        """Makes a file of a kind, with exactly this mode, and returns its path."""
        path = self(name)
        if mode is None:
            mode = 0o755 if kind == "directory" else 0o644
        make(kind, path, mode, content)
        if owner:
            give(path, owner)
            if kind != "symlink" and mode & 0o6000:
                os.chmod(path, mode)
        return path

    def directory(self, name="d", mode=0o755, owner=None):
        return self.make("directory", name, mode, owner)

    def file(self, name="f", content=b"", mode=0o644, owner=None):
        return self.make("file", name, mode, owner, content)

    def open(self, path, flags=os.O_RDWR, mode=0o644, **options):
        """A descriptor that is closed after the row."""
        descriptor = os.open(path, flags, mode, **options)
        self.opened.callback(self.close_quietly, descriptor)
        return descriptor

    def after(self, action, *arguments):
        """Runs an action after the row, whatever comes of it."""
        self.opened.callback(action, *arguments)

    @staticmethod
    def close_quietly(descriptor):
        with contextlib.suppress(OSError):      # the row has closed it
            os.close(descriptor)

    def close(self):
        self.opened.close()


def make(kind, path, mode=0o644, content=b""):
    if kind in DEVICES:
        need_root()
    if kind == "file":
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, content)
        os.close(descriptor)
    elif kind == "directory":
        os.mkdir(path, 0o700)
    elif kind == "symlink":
        return os.symlink("target", path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            if len(os.fsencode(path)) < 108:
                made.bind(path)
            else:
                os.mknod(path, stat.S_IFSOCK | 0o600)
    else:
        os.mknod(path, TYPES[kind] | 0o600, os.makedev(1, 5) if kind in DEVICES else 0)
    os.chmod(path, mode)


def give(path, owner):
    """Makes a file another user's."""
    need_root()
    os.chown(path, owner.uid, owner.gid, follow_symlinks=False)


def chown(path, uid, gid):
    """Makes a file anybody's, to arrange what a row is about."""
    need_root()
    os.chown(path, uid, gid)


def remove(kind, path):
    os.rmdir(path) if kind == "directory" else os.unlink(path)


def need_root():
    from table import NotHere
    if os.geteuid() != 0:
        raise NotHere("needs root")
