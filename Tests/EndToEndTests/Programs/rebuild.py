"""Damages the index under a running daemon, with a query running, and checks that all goes on.

usage: rebuild.py QUIRE HOME MOUNTPOINT

Prints how often a query was refused meanwhile, and the query's lines since.
"""
import glob
import os
import subprocess
import sys
import time

from live import Live


def damage(home):
    """Overwrites the index and its log, every page of them."""
    for name in ("index.sqlite", "index.sqlite-wal"):
        path = f"{home}/{name}"
        if not os.path.exists(path):
            continue
        with open(path, "r+b", buffering=0) as file:
            file.write(b"\xa5" * os.path.getsize(path))


def find(quire, home, condition):
    found = subprocess.run([quire, "find", "--home", home, condition], capture_output=True, text=True)
    return found.returncode, sorted(found.stdout.splitlines()), found.stderr


def main():
    quire, home, mountpoint = sys.argv[1:]
    live = Live(quire, home, 'name == "*.note"')
    live.wait("+ d/1.note")
    os.mkdir(f"{mountpoint}/before")
    with open(f"{mountpoint}/before/first.note", "w") as file:
        file.write("x")
    live.wait("+ before/first.note")
    lines = []
    live.heard = lines
    damage(home)
    refused = 0
    end = time.monotonic() + 60
    number = 0
    while not glob.glob(f"{home}/index.sqlite.corrupt-*"):
        if time.monotonic() > end:
            sys.exit("the damage is not noticed")
        with open(f"{mountpoint}/before/during{number}.txt", "w") as file:
            file.write("text")
        number += 1
        status, _, message = find(quire, home, 'name == "*.note"')
        if status != 0:
            if status != 75 or "index" not in message:
                sys.exit(f"quire find ended with {status}: {message}")
            refused += 1
    for name in ("after.note", "gone.note"):
        with open(f"{mountpoint}/{name}", "w") as file:
            file.write(name)
        live.wait(f"+ {name}")
    os.unlink(f"{mountpoint}/gone.note")
    live.wait("- gone.note")
    os.rename(f"{mountpoint}/after.note", f"{mountpoint}/d/renamed.note")
    live.wait("+ d/renamed.note")
    status, found, message = find(quire, home, 'name == "*.note"')
    wanted = sorted(
        os.path.relpath(os.path.join(at, name), mountpoint)
        for at, _, names in os.walk(mountpoint) for name in names if name.endswith(".note"))
    if status != 0 or found != wanted:
        sys.exit(f"quire find {status} {message}: {found}, not {wanted}")
    # What was shown before is not shown again: only what differs is.
    if any("d/1.note" in line for line in lines if line.startswith("+")):
        sys.exit(f"what was told is told again: {lines}")
    live.process.terminate()
    print(refused)


main()
