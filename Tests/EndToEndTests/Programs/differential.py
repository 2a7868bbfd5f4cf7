"""Random file operations on a drive and on a plain directory, compared after each one.

usage: differential.py --seed N --operations N DRIVE PLAIN
Both directories must be empty and on the same kind of file system. Every operation is done on the drive first, then
on the plain directory; results, errors and the status of what was touched must be equal, and at each checkpoint the
whole trees. The first difference ends the run with the operations before it, its seed and its number.
"""
import argparse
import collections
import ctypes
import errno
import mmap
import os
import random
import stat
import sys

libc = ctypes.CDLL(None, use_errno=True)
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 1, 2, 16
# Times before this are set by the run itself and must be equal on both sides; later ones come from two clocks' reads.
CHOSEN_TIMES = 1_000_000_000 * 10**9
# Targets of symlinks: none leads out of the tree, where both sides would meet.
INSIDE = ["a", "./b", "missing/x", ".", "c/d", "t" * 1000]
NAMES = ["a", "b", "c", "d", "document.txt", "Ünïcode", "with space", ".hidden", "new\nline", "x" * 255, "back\\slash"]


class Difference(Exception):
    pass


def check(result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def rename_with_flags(source, target, flags):
    return check(libc.renameat2(-100, os.fsencode(source), -100, os.fsencode(target), flags))


def fallocate(descriptor, mode, offset, length):
    return check(libc.fallocate(descriptor, mode, ctypes.c_long(offset), ctypes.c_long(length)))


def status(path_or_descriptor, follow=False):
    found = os.stat(path_or_descriptor, follow_symlinks=follow or isinstance(path_or_descriptor, int))
    is_directory = stat.S_ISDIR(found.st_mode)
    mtime = found.st_mtime_ns
    return (found.st_mode, found.st_uid, found.st_gid, found.st_nlink if not is_directory else -1,
            found.st_size if not is_directory else -1, mtime if mtime < CHOSEN_TIMES else "now")


class Run:
    def __init__(self, seed, drive, plain):
        self.random = random.Random(seed)
        self.sides = (drive, plain)
        self.history = collections.deque(maxlen=40)
        self.handles = []
        self.count = 0
        self.performed = collections.Counter()
        self.failed = collections.Counter()

    # Comparing

    def both(self, label, call):
        """Does `call(root, side)` on both sides; returns the plain side's result, or None when it was an error."""
        outcomes = []
        for side, root in enumerate(self.sides):
            try:
                outcomes.append(("ok", call(root, side)))
            except OSError as error:
                outcomes.append(("error", errno.errorcode.get(error.errno, error.errno)))
        self.history.append(f"{self.count}: {label} -> {shorten(outcomes[1])}")
        if outcomes[0] != outcomes[1]:
            raise Difference(f"{label}\n  drive: {shorten(outcomes[0])}\n  plain: {shorten(outcomes[1])}")
        kind = label.split("(")[0]
        self.performed[kind] += 1
        if outcomes[1][0] == "error":
            self.failed[kind] += 1
            return None
        return outcomes[1][1]

    def same_status(self, path):
        self.both(f"lstat({path!r})", lambda root, _: status(f"{root}/{path}"))

    def same_trees(self):
        trees = [dict(entries(root)) for root in self.sides]
        for path in sorted(set(trees[0]) | set(trees[1])):
            left, right = (tree.get(path) for tree in trees)
            if left != right:
                raise Difference(f"tree at {path!r}\n  drive: {shorten(left)}\n  plain: {shorten(right)}")

    # Choosing

    def paths(self):
        """All that there is, from the plain side."""
        found = []
        for directory, directories, files in os.walk(self.sides[1]):
            base = os.path.relpath(directory, self.sides[1])
            found += [os.path.normpath(os.path.join(base, name)) for name in directories + files]
        return sorted(found)

    def some(self, directories=False, missing=0.1):
        """A path that most likely is there."""
        if self.random.random() > missing:
            known = self.known_directories if directories else self.known
            if known:
                return self.random.choice(known)
        return self.fresh()

    def fresh(self):
        """A path that may be free, in a directory that most likely is there."""
        name = self.random.choice(NAMES) if self.random.random() < 0.7 else f"n{self.random.randrange(60)}"
        parent = self.random.choice(self.known_directories + [""])
        if parent.count("/") > 5:
            parent = ""
        return f"{parent}/{name}" if parent else name

    def refresh(self):
        self.known = self.paths()
        plain = self.sides[1]
        self.known_directories = [path for path in self.known if os.path.isdir(f"{plain}/{path}")
                                  and not os.path.islink(f"{plain}/{path}")]

    def data(self):
        length = self.random.choice([0, 1, 7, 100, 4095, 4096, 4097, 10_000, 70_000, 200_000])
        return self.random.randbytes(max(1, length // 50)) * min(50, max(1, length))

    def offset(self):
        return self.random.choice([0, 1, 511, 4096, 5000, 65_536, 100_000, 131_071, 300_000])

    # Operations on names

    def do_create(self):
        path, body = self.fresh(), self.data()
        flags = self.random.choice([os.O_EXCL, os.O_TRUNC, os.O_APPEND, 0]) | os.O_CREAT | os.O_WRONLY | os.O_NONBLOCK
        mode = self.random.choice([0o644, 0o600, 0o755])

        def call(root, _):
            descriptor = os.open(f"{root}/{path}", flags, mode)
            try:
                return os.write(descriptor, body), status(descriptor)
            finally:
                os.close(descriptor)
        self.both(f"create({path!r}, {flags:#o}, {mode:o}, {len(body)})", call)

    def do_mkdir(self):
        path, mode = self.fresh(), self.random.choice([0o755, 0o700, 0o1777, 0o2775])
        self.both(f"mkdir({path!r}, {mode:o})", lambda root, _: os.mkdir(f"{root}/{path}", mode))
        self.same_status(path)

    def do_rmdir(self):
        path = self.some(directories=self.random.random() < 0.8)
        self.both(f"rmdir({path!r})", lambda root, _: os.rmdir(f"{root}/{path}"))

    def do_unlink(self):
        path = self.some()
        self.both(f"unlink({path!r})", lambda root, _: os.unlink(f"{root}/{path}"))

    def do_rename(self):
        source, target = self.some(), self.fresh() if self.random.random() < 0.6 else self.some()
        flags = self.random.choice([0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE])
        self.both(f"rename({source!r}, {target!r}, {flags})",
                  lambda root, _: rename_with_flags(f"{root}/{source}", f"{root}/{target}", flags))
        self.same_status(source)
        self.same_status(target)

    def do_link(self):
        source, target = self.some(), self.fresh()
        self.both(f"link({source!r}, {target!r})",
                  lambda root, _: os.link(f"{root}/{source}", f"{root}/{target}", follow_symlinks=False))
        self.same_status(target)
        self.same_status(source)

    def do_symlink(self):
        path, target = self.fresh(), self.random.choice(INSIDE)
        self.both(f"symlink({target[:20]!r}, {path!r})", lambda root, _: os.symlink(target, f"{root}/{path}"))
        self.both(f"readlink({path!r})", lambda root, _: os.readlink(f"{root}/{path}"))

    def do_mknod(self):
        path = self.fresh()
        kind = self.random.choice([stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFREG])
        self.both(f"mknod({path!r}, {kind:o})", lambda root, _: os.mknod(f"{root}/{path}", kind | 0o640))

    def do_list(self):
        path = self.some(directories=True)

        def call(root, _):
            with os.scandir(f"{root}/{path}") as found:
                return sorted((entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()) for entry in found)
        self.both(f"list({path!r})", call)

    # Operations on attributes

    def do_chmod(self):
        path, mode = self.some(), self.random.choice([0o644, 0o600, 0o400, 0o777, 0o4755, 0o2711, 0])
        self.both(f"chmod({path!r}, {mode:o})", lambda root, _: os.chmod(f"{root}/{path}", mode))
        self.same_status(path)

    def do_chown(self):
        path, owner, group = self.some(), self.random.choice([-1, 0, 1000]), self.random.choice([-1, 0, 100])
        self.both(f"chown({path!r}, {owner}, {group})",
                  lambda root, _: os.chown(f"{root}/{path}", owner, group, follow_symlinks=False))
        self.same_status(path)

    def do_utimens(self):
        path, time = self.some(), self.random.randrange(10**9) * 10**9 + self.random.randrange(10**9)
        self.both(f"utimens({path!r}, {time})",
                  lambda root, _: os.utime(f"{root}/{path}", ns=(time, time), follow_symlinks=False))
        self.same_status(path)

    def do_xattr(self):
        path, name = self.some(), self.random.choice(["user.a", "user.b", "user.long" + "g" * 200])
        value = self.random.randbytes(self.random.choice([0, 1, 50, 1000]))
        flags = self.random.choice([0, os.XATTR_CREATE, os.XATTR_REPLACE])
        action = self.random.randrange(4)
        follow = {"follow_symlinks": False}
        if action == 0:
            self.both(f"removexattr({path!r}, {name[:9]})",
                      lambda root, _: os.removexattr(f"{root}/{path}", name, **follow))
        else:
            self.both(f"setxattr({path!r}, {name[:9]}, {len(value)}, {flags})",
                      lambda root, _: os.setxattr(f"{root}/{path}", name, value, flags, **follow))
        self.both(f"getxattr({path!r}, {name[:9]})", lambda root, _: os.getxattr(f"{root}/{path}", name, **follow))
        self.both(f"listxattr({path!r})", lambda root, _: attributes(f"{root}/{path}"))

    def do_truncate(self):
        path, size, time = self.some(), self.offset(), self.random.randrange(10**9) * 10**9

        def call(root, _):
            os.truncate(f"{root}/{path}", size)
            # POSIX leaves open what becomes of the mtime when the size stays the same, and file systems differ.
            os.utime(f"{root}/{path}", ns=(time, time))
        self.both(f"truncate({path!r}, {size})", call)
        self.same_status(path)

    # Operations on content, with handles that stay open across other operations

    def do_open(self):
        if len(self.handles) >= 12:
            return self.do_close()
        path = self.some()
        if self.kind(path) not in (None, stat.S_IFREG):
            return
        flags = self.random.choice([os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_WRONLY, os.O_RDWR | os.O_TRUNC])
        opened = {}

        def call(root, side):
            opened[side] = os.open(f"{root}/{path}", flags | os.O_NOFOLLOW | os.O_CLOEXEC)
            return status(opened[side])
        if self.both(f"open({path!r}, {flags:#o})", call):
            self.handles.append((self.count, flags, opened))

    def do_close(self):
        if self.handles:
            number, _, opened = self.handles.pop(self.random.randrange(len(self.handles)))
            self.both(f"close(#{number})", lambda _, side: os.close(opened[side]))

    def with_handle(self, label, call):
        if not self.handles:
            return self.do_open()
        number, flags, opened = self.random.choice(self.handles)
        self.both(f"{label[0]}(#{number}{label[1]})", lambda _, side: call(opened[side]))
        self.both(f"fstat(#{number})", lambda _, side: status(opened[side]))

    def do_write(self):
        body, offset = self.data(), self.offset()
        self.with_handle(("pwrite", f", {len(body)}, {offset})"), lambda file: os.pwrite(file, body, offset))

    def do_append(self):
        body = self.data()
        self.with_handle(("append", f", {len(body)}"),
                         lambda file: (os.lseek(file, 0, os.SEEK_END), os.write(file, body)))

    def do_read(self):
        offset = self.offset()
        self.with_handle(("pread", f", {offset}"), lambda file: os.pread(file, 150_000, offset))

    def do_ftruncate(self):
        size = self.offset()
        self.with_handle(("ftruncate", f", {size}"), lambda file: os.ftruncate(file, size))

    def do_fsync(self):
        call = self.random.choice([os.fsync, os.fdatasync])
        self.with_handle((call.__name__, ""), call)

    def do_fallocate(self):
        mode = self.random.choice([0, KEEP_SIZE, PUNCH_HOLE | KEEP_SIZE])
        offset, length = self.offset(), self.random.choice([1, 4096, 10_000, 65_536])
        self.with_handle(("fallocate", f", {mode}, {offset}, {length}"),
                         lambda file: fallocate(file, mode, offset, length))

    def do_seek(self):
        whence, offset = self.random.choice([os.SEEK_DATA, os.SEEK_HOLE, os.SEEK_END]), self.offset()
        self.with_handle(("lseek", f", {whence}, {offset}"), lambda file: os.lseek(file, offset, whence))

    def do_copy_range(self):
        if len(self.handles) < 2:
            return self.do_open()
        (left, _, source), (right, _, target) = self.random.sample(self.handles, 2)
        length, start, end = self.random.choice([1, 4096, 50_000]), self.offset(), self.offset()
        self.both(f"copy_file_range(#{left}, #{right}, {length}, {start}, {end})",
                  lambda _, side: os.copy_file_range(source[side], target[side], length, start, end))

    def do_map(self):
        body, start = self.random.randbytes(50), self.random.randrange(4000)

        def call(file):
            size = os.fstat(file).st_size
            if size == 0:
                return "empty"
            try:
                with mmap.mmap(file, min(size, 100_000)) as memory:
                    at = start % len(memory)
                    part = body[:len(memory) - at]
                    memory[at:at + len(part)] = part
                    memory.flush()
                    return bytes(memory[:200])
            except PermissionError:
                return "EACCES"
        self.with_handle(("mmap", f", {start}"), call)

    def do_whole(self):
        path = self.some()
        if self.kind(path) != stat.S_IFREG:
            return

        def call(root, _):
            with open(f"{root}/{path}", "rb") as file:
                return file.read()
        self.both(f"read({path!r})", call)

    def kind(self, path):
        try:
            return stat.S_IFMT(os.lstat(f"{self.sides[1]}/{path}").st_mode)
        except OSError:
            return None

    def save(self):
        """An editor's save, in one of the three ways."""
        path, body, way = self.fresh(), self.data(), self.random.randrange(3)

        def write(target, flags):
            descriptor = os.open(target, flags | os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o644)
            try:
                os.write(descriptor, body)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

        def call(root, _):
            target = f"{root}/{path}"
            if way == 0:
                temporary = os.path.join(os.path.dirname(target), f".goutputstream-{os.path.basename(target)[:100]}")
                write(temporary, os.O_EXCL)
                os.rename(temporary, target)
            elif way == 1:
                if os.path.lexists(target):
                    os.rename(target, f"{target}~")
                write(target, os.O_EXCL)
                if os.path.isfile(f"{target}~") and not os.path.islink(f"{target}~"):
                    os.unlink(f"{target}~")
            else:
                write(target, os.O_TRUNC | os.O_NOFOLLOW)
        if self.kind(path) in (None, stat.S_IFREG):
            self.both(f"save({path!r}, way {way}, {len(body)})", call)
            self.same_status(path)

    do_save = save

    def run(self, operations, checkpoint):
        weights = {
            "create": 10, "mkdir": 4, "rmdir": 2, "unlink": 6, "rename": 8, "link": 3, "symlink": 2, "mknod": 1,
            "list": 4, "chmod": 3, "chown": 2, "utimens": 3, "xattr": 4, "truncate": 3, "open": 8, "close": 5,
            "write": 12, "append": 4, "read": 8, "ftruncate": 3, "fsync": 2, "fallocate": 4, "seek": 4,
            "copy_range": 4, "map": 4, "whole": 5, "save": 6,
        }
        names, chances = list(weights), list(weights.values())
        while self.count < operations:
            if self.count % 25 == 0:
                self.refresh()
            self.count += 1
            getattr(self, f"do_{self.random.choices(names, chances)[0]}")()
            if self.count % checkpoint == 0:
                self.same_trees()
            if len(self.known) > 400:
                self.prune()
        while self.handles:
            self.do_close()
        self.same_trees()

    def prune(self):
        """Removes a top-level entry whole, so that the trees stay small."""
        top = self.random.choice([path for path in self.known if "/" not in path])

        def call(root, _):
            for directory, directories, files in os.walk(f"{root}/{top}", topdown=False):
                for name in files:
                    os.unlink(os.path.join(directory, name))
                for name in directories:
                    path = os.path.join(directory, name)
                    os.unlink(path) if os.path.islink(path) else os.rmdir(path)
            path = f"{root}/{top}"
            os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
        self.both(f"remove tree({top!r})", call)
        self.refresh()


def attributes(path):
    """The names of user attributes that the file itself has; the drive's own virtual ones are not the file's."""
    return sorted(name for name in os.listxattr(path, follow_symlinks=False)
                  if name.startswith("user.") and not name.startswith("user.quire."))


def entries(root):
    for directory, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(directory, name)
            found = status(path)
            content = None
            if stat.S_ISREG(found[0]):
                with open(path, "rb") as file:
                    content = file.read()
            elif stat.S_ISLNK(found[0]):
                content = os.readlink(path)
            yield os.path.relpath(path, root), (found, attributes(path), content)


def shorten(value):
    text = repr(value)
    return text if len(text) < 600 else f"{text[:300]} … {text[-200:]} ({len(text)} characters)"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--checkpoint", type=int, default=500)
    parser.add_argument("drive")
    parser.add_argument("plain")
    chosen = parser.parse_args()
    os.umask(0o022)
    run = Run(chosen.seed, chosen.drive, chosen.plain)
    try:
        run.run(chosen.operations, chosen.checkpoint)
    except Difference as difference:
        print("\n".join(line if len(line) < 200 else f"{line[:120]} … {line[-60:]}" for line in run.history))
        print(f"DIFFERENCE with seed {chosen.seed} at operation {run.count} (QUIRE_SEED={chosen.seed} repeats it):")
        print(f"  {difference}")
        sys.exit(1)
    print(f"seed {chosen.seed}: {run.count} operations, no difference")
    print(", ".join(f"{name} {count}/{run.failed[name]} failed" for name, count in sorted(run.performed.items())))


if __name__ == "__main__":
    main()
