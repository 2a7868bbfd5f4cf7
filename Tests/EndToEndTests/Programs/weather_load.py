"""Works on documents as people do, alone on the drive, and tells what must be there afterwards.

usage: weather_load.py DIRECTORY SEED SECONDS

Every few milliseconds one of: a new document, an edit in place, an edit by a temporary file that is renamed over the
document, a rename, a new directory, a directory moved, a deletion. At the end it prints the lines that `account_tree.py`
has to print of the directory: nothing lost, nothing doubled. A failing call ends it with an error: the drive has no bad
weather.
"""
import hashlib
import os
import random
import sys
import time


class Load:
    def __init__(self, root, seed):
        self.root, self.chance, self.number = root, random.Random(seed), 0
        self.files, self.directories = {}, {"."}

    def new_path(self):
        self.number += 1
        return os.path.normpath(os.path.join(self.chance.choice(sorted(self.directories)), f"n{self.number}"))

    def text(self):
        self.number += 1
        length = self.chance.choice([0, 30, 3000, 300_000])
        return f"{self.number}\n".encode() + self.chance.randbytes(length)

    def write(self, path, data, flags=os.O_CREAT | os.O_TRUNC):
        file = os.open(os.path.join(self.root, path), flags | os.O_WRONLY, 0o644)
        at = 0
        while at < len(data):
            at += os.write(file, data[at:])
        os.fsync(file)
        os.close(file)

    def create(self):
        path, data = self.new_path(), self.text()
        self.write(path, data)
        self.files[path] = data

    def rewrite(self, path):
        data = self.text()
        self.write(path, data)
        self.files[path] = data

    def append(self, path):
        data = self.text()
        self.write(path, data, os.O_APPEND)
        self.files[path] += data

    def replace(self, path):
        data = self.text()
        temporary = os.path.join(os.path.dirname(path), ".goutputstream-load")
        self.write(temporary, data)
        os.rename(os.path.join(self.root, temporary), os.path.join(self.root, path))
        self.files[path] = data

    def rename(self, path):
        new = self.new_path()
        os.rename(os.path.join(self.root, path), os.path.join(self.root, new))
        self.files[new] = self.files.pop(path)

    def remove(self, path):
        os.unlink(os.path.join(self.root, path))
        del self.files[path]

    def make(self):
        path = self.new_path()
        os.mkdir(os.path.join(self.root, path))
        self.directories.add(path)

    def move(self):
        moved = self.chance.choice(sorted(self.directories))
        new = self.new_path()
        if moved == "." or new.startswith(moved + "/"):
            return
        os.rename(os.path.join(self.root, moved), os.path.join(self.root, new))

        def place(path):
            return new + path[len(moved):] if path == moved or path.startswith(moved + "/") else path
        self.directories = {place(path) for path in self.directories}
        self.files = {place(path): data for path, data in self.files.items()}

    def step(self):
        kind = self.chance.randrange(12)
        if kind < 3 or not self.files:
            return self.create()
        if kind < 5 and len(self.directories) < 12:
            return self.make()
        if kind == 5:
            return self.move()
        edits = [self.rewrite, self.append, self.replace, self.rename, self.remove, self.rewrite]
        edits[kind % len(edits)](self.chance.choice(sorted(self.files)))

    def lines(self):
        found = [("-", path) for path in self.directories - {"."}]
        found += [(hashlib.sha256(data).hexdigest(), path) for path, data in self.files.items()]
        return [f"{digest} {path!a}" for digest, path in sorted(found, key=lambda line: line[1])]


def main():
    load = Load(sys.argv[1], int(sys.argv[2]))
    end = time.monotonic() + float(sys.argv[3])
    while time.monotonic() < end:
        load.step()
        time.sleep(load.chance.uniform(0, 0.05))
    print("\n".join(load.lines()))


main()
