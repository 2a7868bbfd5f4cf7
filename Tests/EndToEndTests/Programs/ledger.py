"""Many people's work on one account, and the book in which it is kept what must be there afterwards.

usage: ledger.py work DIRECTORY BOOK DEVICE SEED COUNT   so many random operations on one device
       ledger.py edit DIRECTORY BOOK DEVICE SEED COUNT   edits of the same few documents
       ledger.py check BOOK… -- DIRECTORY…               tells what was lost

Every document holds one text that nobody else ever writes. A text is in the book from the moment its fsync returned, and
out of it as soon as somebody who has read it begins to replace or delete it. Whatever is in the book at the end must be,
whole, in some file below the directories: a document, a conflict copy, or a kept version. `check` prints how many texts
were written, how many of these were read whole by who then replaced or deleted them (and how many by another device than
their writer's), how many are promised, which of those are missing, which files could not be read, and what the books say of
the missing ones. `work` prints how many operations did something, and in how many patience ended.
"""
import ctypes
import errno
import os
import random
import re
import signal
import sys
import time

NAMES = ["a", "b", "c", "d.txt", "e e"]
FEW = ["a", "b", "c"]
# Of the documents that nobody else thinks of making.
OWN = "own"
# What is in one that somebody left, who had no patience, is promised to nobody.
TEMPORARY = ".goutputstream-ledger"
# Whoever waits for content that does not come in this time goes on with something else, as with Ctrl-C. What is promised by
# then stays so, and nothing is promised that was not done.
PATIENCE = 1.0
DEEPEST, MOST_FILES = 3, 600
NO_REPLACE = 1
TEXT = re.compile(rb"<([\w.-]+) (\d+)>")
OVER = (errno.ENOTCONN, errno.ECONNABORTED)
libc = ctypes.CDLL(None, use_errno=True)


def text(token, length):
    filler = random.Random(token).randbytes((length + 1) // 2).hex()[:length]
    return f"<{token} {length}>{filler}\n".encode()


def tokens(data):
    """The texts that are whole in `data`."""
    found = set()
    for match in TEXT.finditer(data):
        token, length = match[1].decode(), int(match[2])
        if length < 1 << 20 and data.startswith(text(token, length), match.start()):
            found.add(token)
    return found


class Book:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, word, found, way):
        """`way`: what was done, and where, for who looks for what was lost."""
        lines = (f"{word} {token} {time.time():.3f} {way}\n" for token in sorted(found))
        os.write(self.file, "".join(lines).encode())


class Device:
    def __init__(self, root, book, name, seed):
        self.root, self.book, self.name, self.seed = root, Book(book), name, seed
        self.chance, self.number = random.Random(f"{name} {seed}"), 0

    def path(self, *names):
        return os.path.join(self.root, *names)

    def new_path(self):
        return self.path(*(self.chance.choice(NAMES) for _ in range(self.chance.randint(1, DEEPEST))))

    def new_document(self):
        """Every other one at a name that all devices know, where they get in each other's way."""
        if self.chance.randrange(2):
            return self.new_path()
        names = [self.chance.choice(NAMES) for _ in range(self.chance.randint(0, DEEPEST - 1))]
        self.number += 1
        return self.path(*names, f"{OWN}-{self.name}-{self.seed}-{self.number}")

    def document(self, files):
        """Every other one among the few that have such names."""
        shared = [path for path in files if os.path.basename(path) in NAMES]
        return self.chance.choice(shared if shared and self.chance.randrange(2) else files)

    def existing(self):
        files, directories = [], []
        for directory, below, names in os.walk(self.root):
            files += [os.path.join(directory, name) for name in names if name != TEMPORARY]
            directories += [os.path.join(directory, name) for name in below]
        return sorted(files), sorted(directories)

    def new_text(self):
        self.number += 1
        token = f"{self.name}.{self.seed}.{self.number}"
        return token, text(token, self.chance.choice([0, 10, 500, 40_000]))

    def put(self, file, data):
        at = 0
        while at < len(data):
            at += os.write(file, data[at:])
        os.fsync(file)

    def create(self, path=None):
        token, data = self.new_text()
        file = os.open(path or self.new_document(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            self.put(file, data)
            self.book.note("live", {token}, self.way("created", file))
        finally:
            os.close(file)

    def way(self, what, file):
        return f"{what} {os.readlink(f'/proc/self/fd/{file}')[len(self.root):]}"

    def rewrite(self, path):
        """In place: as long as it is open for writing nothing else comes into its place."""
        token, data = self.new_text()
        file = os.open(path, os.O_RDWR)
        try:
            seen = os.pread(file, 1 << 20, 0)
            # Where another document was put at its place before it was open, that is not what was read.
            if os.stat(path).st_ino != os.fstat(file).st_ino:
                return
            self.book.note("gone", tokens(seen), self.way("rewriting", file))
            os.ftruncate(file, 0)
            self.put(file, data)
            self.book.note("live", {token}, self.way("rewritten", file))
        finally:
            os.close(file)

    def replace(self, path):
        """A temporary file that is renamed over the document, in the directory where that was read."""
        token, data = self.new_text()
        directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
        try:
            name = os.path.basename(path)
            with open(os.open(name, os.O_RDONLY, dir_fd=directory), "rb") as file:
                seen = file.read()
            file = os.open(TEMPORARY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=directory)
            try:
                self.put(file, data)
            finally:
                os.close(file)
            self.book.note("gone", tokens(seen), f"replacing {path[len(self.root):]}")
            os.rename(TEMPORARY, name, src_dir_fd=directory, dst_dir_fd=directory)
            self.book.note("live", {token}, f"replaced {path[len(self.root):]}")
        finally:
            os.close(directory)

    def remove(self, path):
        """By way of a name of its own: what is deleted is what was read."""
        self.number += 1
        aside = os.path.join(os.path.dirname(path), f"removed-{self.name}-{self.seed}-{self.number}")
        self.rename(path, aside)
        with open(aside, "rb") as file:
            seen = file.read()
        self.book.note("gone", tokens(seen), f"removing {aside[len(self.root):]}")
        os.unlink(aside)

    def rename(self, path, new):
        if libc.renameat2(-100, os.fsencode(path), -100, os.fsencode(new), NO_REPLACE) != 0:
            raise OSError(ctypes.get_errno(), "renameat2", path)

    def step(self):
        files, directories = self.existing()
        kind = self.chance.randrange(20)
        if len(files) > MOST_FILES:
            return self.remove(self.chance.choice(files))
        if kind < 5 or not files:
            return self.create()
        if kind < 7:
            return os.mkdir(self.new_path())
        if kind < 10 and directories:
            return self.rename(self.chance.choice(directories), self.new_path())
        if kind == 10 and directories:
            return os.rmdir(self.chance.choice(directories))
        path = self.document(files)
        if kind == 11:
            return self.remove(path)
        if kind < 14:
            return self.rename(path, self.new_path())
        return self.rewrite(path) if kind < 17 else self.replace(path)

    def edit(self):
        path = self.path(self.chance.choice(FEW))
        if not os.path.exists(path):
            return self.create(path)
        return self.rewrite(path) if self.chance.randrange(2) else self.replace(path)

    def work(self, count, step):
        """How many operations did something, and in how many patience ended. Of those that make no sense, as of a name that is
        taken, others are tried."""
        done, tries, ended = 0, 0, 0
        while done < count and tries < 6 * count:
            tries += 1
            try:
                self.patiently(step)
                done += 1
                time.sleep(self.chance.uniform(0, 0.02))
            except TimeoutError:
                ended += 1
            except OSError as error:
                if error.errno in OVER:
                    break
        return done, ended

    @staticmethod
    def patiently(step):
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        try:
            step()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def impatient(*_):
    raise TimeoutError(errno.ETIMEDOUT, "waited long enough")


def texts(books):
    """All that were written, those of them that are gone, and those that other devices than their writers' removed."""
    live, gone, elsewhere = set(), set(), set()
    for book in books:
        device = os.path.basename(book).split(".")[0]
        for line in open(book):
            word, token, _ = line.split(maxsplit=2)
            (live if word == "live" else gone).add(token)
            if word == "gone" and token.split(".")[0] != device:
                elsewhere.add(token)
    return live, gone & live, elsewhere & live


def check(books, directories):
    found, unreadable = set(), []
    for root in directories:
        for directory, _, names in os.walk(root):
            for name in names:
                path = os.path.join(directory, name)
                try:
                    with open(path, "rb") as file:
                        found |= tokens(file.read())
                except OSError as error:
                    unreadable.append(f"{path}: {error.strerror}")
    live, gone, elsewhere = texts(books)
    wanted = live - gone
    lost = wanted - found
    print(f"written {len(live)} replaced {len(gone)} elsewhere {len(elsewhere)} promised {len(wanted)} lost {len(lost)} unreadable {len(unreadable)}", *sorted(lost)[:50], *unreadable[:10])
    for book in books:
        print(*(f"{os.path.basename(book)}: {line}" for line in open(book) if line.split()[1] in lost), sep="", end="")


def main():
    if sys.argv[1] == "check":
        middle = sys.argv.index("--")
        return check(sys.argv[2:middle], sys.argv[middle + 1:])
    root, book, name, seed, count = sys.argv[2:7]
    signal.signal(signal.SIGALRM, impatient)
    device = Device(root, book, name, seed)
    print(*device.work(int(count), device.edit if sys.argv[1] == "edit" else device.step))


main()
