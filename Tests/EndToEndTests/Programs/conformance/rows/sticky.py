"""Sticky directories: only the owner of the file, the owner of the directory and root remove or rename (unlink(2))."""
import os

import calls
from place import KINDS, NOT_DIRECTORIES, give, remove
from table import fails, row
from users import MEMBER, OWNER, ROOT, STRANGER

CALLERS = (OWNER, MEMBER, STRANGER, ROOT)


def allowed(user, *owners):
    return user is ROOT or user in owners


def refused(user, *owners):
    return "OK" if allowed(user, *owners) else {"EPERM", "EACCES"}


def entry(at, kind, owner, directory, mode=None):
    """Makes the entry `d/x` of one user in a sticky directory of another."""
    at.directory(mode=0o1777)
    path = at.make(kind, "d/x", mode, owner)
    give(at("d"), directory)
    os.chmod(at("d"), 0o1777)
    return path


@row("sticky", "{user} removes a {kind} of {owner} from a directory of {directory}", kind=KINDS, user=CALLERS,
     owner=(OWNER, MEMBER), directory=(OWNER, MEMBER))
def removal(at, kind, user, owner, directory):
    path = entry(at, kind, owner, directory)
    with user:
        fails(refused(user, owner, directory), remove, kind, path)


@row("sticky", "{user} renames a {kind} of {owner} out of a directory of {directory}", kind=KINDS, user=CALLERS,
     owner=(OWNER, MEMBER), directory=(OWNER, MEMBER))
def rename_from(at, kind, user, owner, directory):
    path = entry(at, kind, owner, directory, 0o777)
    with user:
        wanted = refused(user, owner, directory)
        fails(wanted, os.rename, path, at("moved"))


@row("sticky", "{user} renames over a {kind} of {owner} in a directory of {directory}", kind=KINDS, user=CALLERS,
     owner=(OWNER, MEMBER), directory=(OWNER, MEMBER))
def rename_over(at, kind, user, owner, directory):
    entry(at, kind, owner, directory)
    moved = at.make("directory" if kind == "directory" else "file", "own", 0o777, owner=user)
    with user:
        fails(refused(user, owner, directory), os.rename, moved, at("d/x"))


@row("sticky", "{user} exchanges a {kind} of {owner} in a directory of {directory}", kind=NOT_DIRECTORIES, user=CALLERS,
     owner=(OWNER, MEMBER), directory=(OWNER, MEMBER))
def exchange(at, kind, user, owner, directory):
    entry(at, kind, owner, directory)
    moved = at.make("file", "own", 0o777, owner=user)
    with user:
        fails(refused(user, owner, directory), calls.renameat2, moved, at("d/x"), calls.EXCHANGE)


@row("sticky", "{user} makes a {kind} in it", kind=("file", "directory", "symlink", "fifo", "socket"), user=CALLERS)
def creation(at, kind, user):
    at.directory(mode=0o1777)
    with user:
        fails("OK", at.make, kind, "d/x")


@row("sticky", "a file of another user in it may be written to where its mode allows")
def writing(at):
    at.directory(mode=0o1777)
    at.file("d/f", b"x", 0o666, owner=OWNER)
    with STRANGER:
        fails("OK", os.truncate, at("d/f"), 0)
        fails({"EPERM", "EACCES"}, os.unlink, at("d/f"))
