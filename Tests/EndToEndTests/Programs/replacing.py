"""A program that knows nothing of coordination saves by putting a new file in the place of the old one.

    replacing.py numbers PATH LAST      the numbers 1 to LAST, one after the other
    replacing.py lines PATH NAME LAST   adds a line LAST times: reads, writes a new file, looks whether the document is still
                                        what it read (as vim does; else it begins anew), and renames
    replacing.py late PATH WAY SIGNALS  reads, makes the file SIGNALS/read, waits for SIGNALS/go, and saves what it read with
                                        a line more, by WAY: rename, backup (to PATH~, then anew), empty, truncate,
                                        unlink (and anew)
"""
import os, sys, time


def replace(path, data):
    """The new file is beside the document, under a name as vim's."""
    temporary = os.path.join(os.path.dirname(path), "." + os.path.basename(path) + ".swx")
    with open(temporary, "wb") as file:
        file.write(data)
    return temporary


def numbers(path, last):
    for number in range(1, last + 1):
        os.rename(replace(path, str(number).encode()), path)


def known_by(status):
    return status.st_ino, status.st_size, status.st_mtime_ns


def read(path):
    while True:
        try:
            with open(path, "rb") as file:
                return file.read(), known_by(os.fstat(file.fileno()))
        except FileNotFoundError:
            # Another device's version is being put in the place of this one.
            time.sleep(0.001)


def lines(path, name, last):
    again = 0
    for number in range(1, last + 1):
        while True:
            text, known = read(path)
            temporary = replace(path, text + f"{name} {number}\n".encode())
            try:
                if known_by(os.stat(path)) == known:
                    os.rename(temporary, path)
                    break
            except FileNotFoundError:
                pass
            os.unlink(temporary)
            again += 1
    print(again)


def late(path, way, signals):
    text, _ = read(path)
    open(os.path.join(signals, "read"), "w").close()
    while not os.path.exists(os.path.join(signals, "go")):
        time.sleep(0.01)
    save(path, way, text + b"late\n")
    # Its own content it knows.
    save(path, way, text + b"late\nlater\n")


def save(path, way, text):
    if way == "rename":
        return os.rename(replace(path, text), path)
    if way == "backup":
        os.rename(path, path + "~")
    if way == "unlink":
        os.unlink(path)
    if way == "truncate":
        os.truncate(path, 0)
        with open(os.open(path, os.O_WRONLY), "wb") as file:
            return file.write(text)
    with open(path, "wb") as file:
        file.write(text)
    if way == "backup":
        os.unlink(path + "~")


if sys.argv[1] == "late":
    late(*sys.argv[2:5])
elif sys.argv[1] == "numbers":
    numbers(sys.argv[2], int(sys.argv[3]))
else:
    lines(sys.argv[2], sys.argv[3], int(sys.argv[4]))
