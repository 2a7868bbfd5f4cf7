"""System calls that Python's `os` lacks or dresses up. Each raises OSError with the call's errno."""
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
path, integer, number, offset, pointer = (
    ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_longlong, ctypes.c_void_p)

AT_FDCWD, AT_SYMLINK_NOFOLLOW, AT_REMOVEDIR, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, AT_EACCESS = (
    -100, 0x100, 0x200, 0x400, 0x1000, 0x200)
NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
KEEP_SIZE, PUNCH_HOLE, COLLAPSE, ZERO_RANGE, INSERT = 1, 2, 8, 16, 32
UTIME_NOW, UTIME_OMIT = (1 << 30) - 1, (1 << 30) - 2
MS_RDONLY, MS_REMOUNT, MS_BIND = 1, 32, 4096
SYS_GETDENTS64, SYS_FCHMODAT2, SYS_FACCESSAT2 = 217, 452, 439


def function(name, *types, result=integer):
    """The C function `name` as a Python function that raises."""
    raw = getattr(libc, name)
    raw.argtypes, raw.restype = types, result

    def call(*arguments):
        returned = raw(*(os.fsencode(one) if isinstance(one, str) else one for one in arguments))
        if returned == -1:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return returned

    call.__name__ = name
    return call


def renameat2(old, new, flags, old_at=AT_FDCWD, new_at=AT_FDCWD):
    return _renameat2(old_at, old, new_at, new, flags)


def utimensat(target, access, modification, flags=0, at=AT_FDCWD):
    """Times are (seconds, nanoseconds)."""
    return _utimensat(at, target, struct.pack("qqqq", *access, *modification), flags)


def getdents(descriptor, size):
    """The raw entries as (inode, position, type, name)."""
    buffer = ctypes.create_string_buffer(size)
    count = _syscall(SYS_GETDENTS64, descriptor, buffer, size, 0)
    entries, start = [], 0
    while start < count:
        inode, position, length, kind = struct.unpack_from("QqHB", buffer.raw, start)
        entries.append((inode, position, kind, buffer.raw[start + 19:start + length].split(b"\0")[0]))
        start += length
    return entries


def fchmodat2(target, mode, flags, at=AT_FDCWD):
    return _fchmodat2(SYS_FCHMODAT2, at, os.fsencode(target), mode, flags)


def faccess(target, mode, flags=0, at=AT_FDCWD):
    return _fchmodat2(SYS_FACCESSAT2, at, os.fsencode(target), mode, flags)


def access(target, mode):
    return _access(target, mode)


def _raw(*types):
    raw = ctypes.CDLL(None, use_errno=True).syscall
    raw.argtypes, raw.restype = types, ctypes.c_long

    def call(*arguments):
        returned = raw(*arguments)
        if returned == -1:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return returned

    return call


_renameat2 = function("renameat2", integer, path, integer, path, number)
_utimensat = function("utimensat", integer, path, path, integer)
_access = function("access", path, integer)
_syscall = _raw(ctypes.c_long, integer, pointer, ctypes.c_size_t, integer)
_fchmodat2 = _raw(ctypes.c_long, integer, path, integer, integer)

linkat = function("linkat", integer, path, integer, path, integer)
fallocate = function("fallocate", integer, integer, offset, offset)
mount = function("mount", path, path, path, ctypes.c_ulong, pointer)
umount2 = function("umount2", path, integer)
creat = function("creat", path, integer)
syncfs = function("syncfs", integer)
sync_file_range = function("sync_file_range", integer, offset, offset, number)
