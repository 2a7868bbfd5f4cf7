"""setxattr(2), getxattr(2), listxattr(2), removexattr(2), xattr(7)."""
import os

from place import KINDS, need_root
from table import answer, expect, fails, row, works
from users import OWNER, ROOT, STRANGER

CREATE, REPLACE = os.XATTR_CREATE, os.XATTR_REPLACE


@row("setxattr", "user.a of a {kind}", kind=KINDS)
def kinds(at, kind):
    path = at.make(kind)
    follow = {"follow_symlinks": False}
    if kind in ("file", "directory"):
        works(os.setxattr, path, "user.a", b"value", **follow)
        expect(works(os.getxattr, path, "user.a", **follow), b"value")
        expect(works(os.listxattr, path, **follow), ["user.a"])
        works(os.removexattr, path, "user.a", **follow)
        fails("ENODATA", os.getxattr, path, "user.a", **follow)
    else:
        fails("EPERM", os.setxattr, path, "user.a", b"value", **follow)
        fails({"EPERM", "ENODATA"}, os.getxattr, path, "user.a", **follow)
        expect(works(os.listxattr, path, **follow), [])


@row("setxattr", "a value of {size} bytes", size=(0, 1, 255, 256, 1000, 3000))
def values(at, size):
    path, value = at.file(), bytes(range(256)) * 12
    works(os.setxattr, path, "user.a", value[:size])
    expect(works(os.getxattr, path, "user.a"), value[:size])


@row("setxattr", "a value of {size} bytes, at the limit", size=(65_536, 65_537, 1 << 20))
def large_values(at, size):
    path = at.file()
    code = answer(os.setxattr, path, "user.a", b"x" * size)
    # ENOSPC: file systems that keep attributes in one block.
    expect(code, {"OK", "ENOSPC"} if size <= 65_536 else "E2BIG")
    if code == "OK":
        expect(len(works(os.getxattr, path, "user.a")), size)
    else:
        expect(os.listxattr(path), [])


@row("setxattr", "a name of {length} bytes", length=(6, 7, 254, 255, 256, 300))
def names(at, length):
    path, name = at.file(), "user.".ljust(length, "n")
    if length <= 255:
        works(os.setxattr, path, name, b"v")
        expect(works(os.getxattr, path, name), b"v")
        expect(os.listxattr(path), [name])
    else:
        fails("ERANGE", os.setxattr, path, name, b"v")
        fails("ERANGE", os.getxattr, path, name)


@row("setxattr", "the name “{name}”", name=("", "user.", "nothing", "unknown.a", "User.a", "system.unknown", ".a"))
def wrong_names(at, name):
    path = at.file()
    wanted = {"": "ERANGE", "user.": {"EINVAL"}}.get(name, "EOPNOTSUPP")
    fails(wanted, os.setxattr, path, name, b"v")
    fails(wanted, os.getxattr, path, name)
    fails(wanted, os.removexattr, path, name)
    expect(os.listxattr(path), [])


@row("setxattr", "a name with the byte {byte:#04x}", byte=list(range(1, 32)) + [32, 47, 127, 128, 255])
def bytes_in_names(at, byte):
    path, name = os.fsencode(at.file()), b"user.a" + bytes([byte]) + b"b"
    works(os.setxattr, path, name, b"v")
    expect(works(os.getxattr, path, name), b"v")
    expect([os.fsencode(one) for one in os.listxattr(path)], [name])


@row("setxattr", "with {flag} where it {state}", flag=("XATTR_CREATE", "XATTR_REPLACE", "no flag"),
     state=("is", "is not"))
def flags(at, flag, state):
    path = at.file()
    if state == "is":
        os.setxattr(path, "user.a", b"old")
    number = {"XATTR_CREATE": CREATE, "XATTR_REPLACE": REPLACE}.get(flag, 0)
    wanted = "EEXIST" if (flag, state) == ("XATTR_CREATE", "is") else (
        "ENODATA" if (flag, state) == ("XATTR_REPLACE", "is not") else "OK")
    fails(wanted, os.setxattr, path, "user.a", b"new", number)
    if wanted == "OK" or state == "is":
        expect(os.getxattr(path, "user.a"), b"new" if wanted == "OK" else b"old")


@row("setxattr", "with flags {flags}", flags=(4, 8, -1))
def wrong_flags(at, flags):
    fails("EINVAL", os.setxattr, at.file(), "user.a", b"v", flags)


@row("getxattr", "and listxattr with a buffer of {size} bytes for {length}",
     length=(10, 100), size=(0, 1, 9, 10, 99, 100, 5000))
def buffers(at, length, size):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    path = os.fsencode(at.file())
    os.setxattr(path, "user.a", b"v" * length)
    buffer = ctypes.create_string_buffer(max(size, 1))
    found = libc.getxattr(path, b"user.a", buffer, size)
    expect(found, length if size == 0 or size >= length else -1)
    if found < 0:
        expect(ctypes.get_errno(), 34)      # ERANGE
    listed = libc.listxattr(path, buffer, size)
    expect(listed, 7 if size == 0 or size >= 7 else -1)
    if listed < 0:
        expect(ctypes.get_errno(), 34)


@row("listxattr", "{count} attributes", count=(0, 1, 2, 50))
def many(at, count):
    path = at.file()
    for number in range(count):
        works(os.setxattr, path, f"user.{number}", str(number).encode())
    expect(sorted(os.listxattr(path)), sorted(f"user.{number}" for number in range(count)))
    for number in range(count):
        expect(os.getxattr(path, f"user.{number}"), str(number).encode())
        works(os.removexattr, path, f"user.{number}")
    expect(os.listxattr(path), [])


@row("removexattr", "of one that is not there")
def missing(at):
    fails("ENODATA", os.removexattr, at.file(), "user.a")
    fails("ENODATA", os.getxattr, at("f"), "user.a")


@row("setxattr", "and removexattr of a {kind}: ctime becomes now, mtime stays", kind=("file", "directory"))
def times(at, kind):
    path = at.make(kind)
    before = os.stat(path)
    yield
    works(os.setxattr, path, "user.a", b"v")
    during = os.stat(path)
    expect(during.st_ctime_ns > before.st_ctime_ns, True, "a later ctime")
    yield
    works(os.removexattr, path, "user.a")
    after = os.stat(path)
    expect(after.st_ctime_ns > during.st_ctime_ns, True, "a later ctime")
    expect(after.st_mtime_ns, before.st_mtime_ns, "mtime")


@row("setxattr", "through a descriptor, {how}",
     how=("writing", "reading", "of a directory", "of a removed file", "O_PATH"))
def descriptors(at, how):
    path = at.directory() if how == "of a directory" else at.file()
    flags = {"writing": os.O_RDWR, "of a removed file": os.O_RDWR, "O_PATH": os.O_PATH}.get(how, os.O_RDONLY)
    descriptor = at.open(path, flags)
    if how == "of a removed file":
        os.unlink(path)
    if how == "O_PATH":
        fails("EBADF", os.setxattr, descriptor, "user.a", b"v")
    else:
        works(os.setxattr, descriptor, "user.a", b"v")
        expect((works(os.getxattr, descriptor, "user.a"), works(os.listxattr, descriptor)), (b"v", ["user.a"]))


@row("setxattr", "through a symlink reaches the target")
def through_link(at):
    path = at.file("target")
    works(os.setxattr, at.make("symlink", "l"), "user.a", b"v")
    expect(os.getxattr(path, "user.a"), b"v")


@row("setxattr", "user.a by {user}: sticky directory of another", user=(OWNER, STRANGER, ROOT))
def sticky(at, user):
    path = at.directory(mode=0o1777, owner=OWNER)
    with user:
        fails("EPERM" if user is STRANGER else "OK", os.setxattr, path, "user.a", b"v")


@row("setxattr", "is kept by rename and link, and gone with the file")
def follows(at):
    os.setxattr(at.file(), "user.a", b"v")
    os.link(at("f"), at("g"))
    os.rename(at("f"), at("h"))
    expect((os.getxattr(at("g"), "user.a"), os.getxattr(at("h"), "user.a")), (b"v", b"v"))
    os.unlink(at("g"))
    os.unlink(at("h"))
    at.file()
    fails("ENODATA", os.getxattr, at("f"), "user.a")


# The namespaces of root.
@row("setxattr", "{name} of a {kind} by root", name=("trusted.a", "security.a"), kind=KINDS)
def privileged(at, name, kind):
    need_root()
    path = at.make(kind)
    follow = {"follow_symlinks": False}
    works(os.setxattr, path, name, b"value", **follow)
    expect(works(os.getxattr, path, name, **follow), b"value")
    expect(works(os.listxattr, path, **follow), [name])
    works(os.removexattr, path, name, **follow)
    fails("ENODATA", os.getxattr, path, name, **follow)


@row("setxattr", "{name} by {user}", name=("trusted.a", "security.a"), user=(OWNER, STRANGER))
def not_privileged(at, name, user):
    path = at.file(mode=0o666, owner=OWNER)
    with user:
        fails("EPERM", os.setxattr, path, name, b"v")
        fails("ENODATA", os.getxattr, path, name)
        fails({"EPERM", "ENODATA"}, os.removexattr, path, name)


@row("listxattr", "by {user}: trusted.a is root's to see, security.a everybody's", user=(OWNER, STRANGER, ROOT))
def hidden(at, user):
    path = at.file(mode=0o666, owner=OWNER)
    for name in ("trusted.a", "security.a", "user.a"):
        os.setxattr(path, name, b"v")
    with user:
        wanted = {"security.a", "user.a"} | ({"trusted.a"} if user is ROOT else set())
        expect(set(works(os.listxattr, path)), wanted)
        fails("OK" if user is ROOT else "ENODATA", os.getxattr, path, "trusted.a")
        expect(works(os.getxattr, path, "security.a"), b"v")


@row("setxattr", "security.capability: {what}", what=("is kept", "goes with a write", "goes with a chown"))
def capability(at, what):
    need_root()
    path = at.file(content=b"x", mode=0o755)
    value = bytes.fromhex("0100000200200000000000000000000000000000")     # cap_net_raw=ep
    works(os.setxattr, path, "security.capability", value)
    expect(works(os.getxattr, path, "security.capability"), value)
    if what == "goes with a write":
        os.write(at.open(path), b"y")
    elif what == "goes with a chown":
        os.chown(path, 5, 5)
    fails("OK" if what == "is kept" else "ENODATA", os.getxattr, path, "security.capability")
