"""Stores into a document by a mapping after it was closed, and checks that each store is uploaded.

usage: lingering.py QUIRE HOME DOCUMENT UPLOADED

UPLOADED is where the provider keeps DOCUMENT.
"""
import ctypes
import os
import subprocess
import sys
import time

PAGE = 4096
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def main():
    quire, home, document, uploaded = sys.argv[1:]

    def expect(content):
        subprocess.run([quire, "sync", "--home", home, "--timeout", "60"], check=True)
        with open(uploaded, "rb") as file:
            found = file.read()
        if found != content:
            sys.exit(f"the provider has {found[:20]} … {found[PAGE:PAGE + 20]}, not {content[:20]} … {content[PAGE:PAGE + 20]}")

    content = bytearray(b"a" * 2 * PAGE)
    with open(document, "wb") as file:
        file.write(content)
    expect(content)
    descriptor = os.open(document, os.O_RDWR)
    # Python's own module keeps the descriptor.
    address = libc.mmap(None, len(content), 3, 1, descriptor, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        sys.exit(os.strerror(ctypes.get_errno()))
    os.close(descriptor)

    def store(text, offset):
        ctypes.memmove(address + offset, text, len(text))
        content[offset:offset + len(text)] = text

    store(b"first", 0)
    expect(content)
    store(b"second", PAGE)
    expect(content)
    # The page is dirty already: nothing about the file shows it but its content.
    for text in (b"third", b"fourth"):
        store(text, 100)
    # Handles that could map it, and could not, come and go meanwhile.
    with open(document, "r+b") as file:
        pass
    with open(document, "ab") as file:
        pass
    store(b"fifth", PAGE + 100)
    libc.munmap(address, len(content))
    expect(content)
    # Over at once, and after a moment's rest, with the file's time as programs see it.
    for pause in (0, 0.005, 0.1):
        descriptor = os.open(document, os.O_RDWR)
        address = libc.mmap(None, len(content), 3, 1, descriptor, 0)
        os.close(descriptor)
        before = os.stat(document).st_mtime_ns
        time.sleep(pause)
        store(b"%f" % pause, 200)
        libc.munmap(address, len(content))
        expect(content)
        if os.stat(document).st_mtime_ns <= before:
            sys.exit("the mount shows the time of before the store")
    with open(document, "rb") as file:
        if file.read() != content:
            sys.exit("the mount shows something else")


main()
