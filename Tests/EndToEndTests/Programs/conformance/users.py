"""The users that rows act as. `with OWNER:` is that user, with no privileges, until the block's end."""
import os

from place import need_root
from table import NotHere

alone = False   # whether the mount lets nobody in but root



class User:
    def __init__(self, name, uid, gid, groups=()):
        self.name, self.uid, self.gid, self.groups = name, uid, gid, groups

    def __format__(self, _):
        return self.name

    def __enter__(self):
        need_root()
        if alone and self.uid:
            raise NotHere("needs other users")
        os.setgroups(self.groups)
        os.setresgid(self.gid, self.gid, 0)
        os.setresuid(self.uid, self.uid, 0)

    def __exit__(self, *_):
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups([])


# What a row makes belongs to OWNER and to OWNER's group; the others stand in every relation to it.
OWNER = User("its owner", 65534, 65534)
MEMBER = User("a user of its group", 65533, 65534)
SUPPLEMENTARY = User("a user whose supplementary group it has", 65532, 65532, (65530, 65534))
STRANGER = User("a stranger", 65531, 65531)
ROOT = User("root", 0, 0)
EVERYBODY = (OWNER, MEMBER, SUPPLEMENTARY, STRANGER, ROOT)
UNPRIVILEGED = EVERYBODY[:-1]


def bits(user, mode):
    """The three permission bits of `mode` that are `user`'s."""
    if user is OWNER:
        return mode >> 6 & 7
    return (mode >> 3 & 7) if user in (MEMBER, SUPPLEMENTARY) else mode & 7


def exclusive(user, granted):
    """A mode that grants exactly `granted` to `user`'s class and everything else to the two other classes."""
    shift = 6 if user is OWNER else 3 if user in (MEMBER, SUPPLEMENTARY) else 0
    return 0o777 & ~(7 << shift) | granted << shift
