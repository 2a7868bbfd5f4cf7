"""Prints one line for each entry of a directory tree: type, mode, links, size, times on request, content, name.

usage: tree.py [--mtime|--file-mtime] [--no-links] [--skip NAME]... DIRECTORY
Two trees are the same exactly when the lines are.
"""
import argparse
import hashlib
import os
import stat
import sys


def content(path, status):
    if stat.S_ISREG(status.st_mode):
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()
    if stat.S_ISLNK(status.st_mode):
        return os.fsencode(os.readlink(path)).hex()
    return "-"


def lines(root, mtime=False, links=True, skip=(), file_mtime=False):
    pending = [b"."]
    while pending:
        directory = pending.pop()
        path = os.path.join(os.fsencode(root), directory)
        for name in sorted(os.listdir(path)):
            if os.fsdecode(name) in skip:
                continue
            relative = os.path.join(directory, name)
            full = os.path.join(path, name)
            status = os.lstat(full)
            is_directory = stat.S_ISDIR(status.st_mode)
            if is_directory:
                pending.append(relative)
            yield " ".join([
                oct(status.st_mode),
                str(status.st_nlink) if links and not is_directory else "-",
                "-" if is_directory else str(status.st_size),
                str(status.st_mtime_ns) if mtime and not stat.S_ISLNK(status.st_mode)
                or file_mtime and stat.S_ISREG(status.st_mode) else "-",
                content(full, status),
                repr(relative)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mtime", action="store_true")
    parser.add_argument("--file-mtime", action="store_true")
    parser.add_argument("--no-links", action="store_true")
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("directory")
    chosen = parser.parse_args()
    found = lines(chosen.directory, chosen.mtime, not chosen.no_links, chosen.skip, chosen.file_mtime)
    sys.stdout.write("\n".join(sorted(found, key=lambda line: line.split(" ", 5)[5])) + "\n")


if __name__ == "__main__":
    main()
