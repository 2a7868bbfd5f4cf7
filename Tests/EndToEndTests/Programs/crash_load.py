"""Writes documents on a drive and records what was promised; later checks that every promise was kept.

usage: crash_load.py write DIRECTORY LOG SEED     until the drive fails under it
       crash_load.py durable DIRECTORY LOG SEED   the same, with fsync of the directories of each changed name
       crash_load.py verify DIRECTORY LOG
       crash_load.py verify-after-cut DIRECTORY LOG

After a power cut the index may have forgotten an upload that was under way. Then a conflict copy may hold what was
promised, and a name that was freed may hold an earlier version again: nothing is lost, so that is no broken promise.

The log lies outside the drive. Each operation is recorded before it starts and after it ended; what ended with fsync
must be there after any crash, the one that was under way may be there or not, wholly or in part.
"""
import errno
import json
import os
import random
import sys


def body(number, length):
    return random.Random(number).randbytes(length)


class Log:
    def __init__(self, path):
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def add(self, record):
        os.write(self.descriptor, (json.dumps(record) + "\n").encode())


def records(path):
    """All operations of the log as (record, ended); `ended` is None for one that was refused and changed nothing."""
    begun, order = {}, []
    if not os.path.exists(path):
        return []
    for line in open(path):
        record = json.loads(line)
        if "failed" in record:
            begun[record["failed"]][1] = None
        elif "ended" in record:
            begun[record["ended"]][1] = True
        else:
            begun[record["number"]] = [record, False]
            order.append(record["number"])
    return [tuple(begun[number]) for number in order]


# The model: path -> set of what it may hold. None: no such file. ANY: whatever.
ANY = "anything"


def replay(path):
    model = {}
    for record, ended in records(path):
        if ended is not None:
            apply(model, record, ended)
    return model


def apply(model, record, ended):
    kind, name = record["kind"], record["path"]
    new = ("body", record["number"], record["length"]) if "length" in record else None
    old = model.get(name, {None})
    if kind == "replace":
        model[name] = {new} if ended else old | {new}
        model[record["temporary"]] = {None} if ended else {ANY}
    elif kind == "rewrite":
        model[name] = {new} if ended else {ANY}
    elif kind == "append":
        grown = {("grown", before, new) for before in old if before not in (None, ANY)} or {ANY}
        model[name] = grown if ended else old | grown | {("part", before, new) for before in old}
    elif kind == "rename":
        target, over = record["target"], model.get(record["target"], {None})
        model[target] = set(old) if ended else old | over
        model[name] = {None} if ended else old | {None}
    elif kind == "remove":
        model[name] = {None} if ended else old | {None}


def bytes_of(state):
    if state[0] == "body":
        return body(state[1], state[2])
    before, new = state[1], state[2]
    return bytes_of(before) + bytes_of(new)


def matches(state, found, after_cut=False):
    if state == ANY:
        return True
    if state is None or found is None:
        return state is None and found is None
    if state[0] == "part":
        before = state[1]
        if before in (None, ANY):
            return True
        start, new = bytes_of(before), bytes_of(state[2])
        tail = found[len(start):]
        if not found.startswith(start) or len(tail) > len(new):
            return False
        # ext4 may know the new length before it has the bytes, where they are in a block that was there already.
        return all(byte == wanted or after_cut and byte == 0 for byte, wanted in zip(tail, new))
    return bytes_of(state) == found


def size(state):
    return 0 if state in (None, ANY) else len(bytes_of(state))


def write(directory, log_path, seed, durable):
    chance = random.Random(seed)
    log = Log(log_path)
    model = replay(log_path)
    number = max([record["number"] for record, _ in records(log_path)], default=seed * 10_000_000)

    def put(path, flags, data):
        descriptor = os.open(f"{directory}/{path}", flags | os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            at = 0
            while at < len(data):
                at += os.write(descriptor, data[at:])
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def keep(*paths):
        """Makes the names durable, too: what a program does that must survive a loss of power."""
        for parent in {os.path.dirname(path) for path in paths} if durable else ():
            descriptor = os.open(f"{directory}/{parent}", os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    for sub in ("", "d0", "d1", "d2", "d0/deep"):
        os.makedirs(f"{directory}/{sub}", exist_ok=True)
    keep("d0/deep/x", "d0/x", "x", "../x")
    while True:
        number += 1
        names = sorted(name for name, states in model.items() if states != {None} and "tmp" not in name)
        fresh = f"{chance.choice(['', 'd0/', 'd1/', 'd2/', 'd0/deep/'])}f{chance.randrange(25)}"
        known = chance.choice(names) if names else fresh
        length = chance.choice([1, 100, 5000, 70_000, 300_000])
        kind = chance.choice(["replace", "replace", "rewrite", "append", "rename", "remove", "noise"])
        record = {"number": number, "kind": kind, "path": known if kind in ("rename", "remove", "append") else fresh}
        if kind in ("replace", "rewrite", "append"):
            record["length"] = length
        if kind == "replace":
            record["temporary"] = f"{fresh}.tmp{number % 3}" if number % 2 else f"{os.path.dirname(fresh) or '.'}/.goutputstream-tmp"
        if kind == "append" and (model.get(known, {None}) & {None, ANY} or max(map(size, model[known])) > 500_000):
            continue
        if kind in ("rename", "remove") and not names:
            continue
        if kind == "rename":
            record["target"] = fresh
            if fresh == known:
                continue
        log.add(record)
        path, data = record["path"], body(number, length)
        try:
            if kind == "replace":
                put(record["temporary"], os.O_TRUNC, data)
                os.rename(f"{directory}/{record['temporary']}", f"{directory}/{path}")
                keep(record["temporary"], path)
            elif kind == "rewrite":
                put(path, os.O_TRUNC, data)
                keep(path)
            elif kind == "append":
                put(path, os.O_APPEND, data)
            elif kind == "rename":
                os.rename(f"{directory}/{path}", f"{directory}/{record['target']}")
                keep(path, record["target"])
            elif kind == "remove":
                os.unlink(f"{directory}/{path}")
                keep(path)
            else:
                with open(f"{directory}/noise{number % 5}", "wb") as file:
                    file.write(data)
        except FileNotFoundError:
            if kind not in ("rename", "remove"):
                raise
            log.add({"failed": number})
            continue
        log.add({"ended": number})
        apply(model, record, True)


def kept_beside(directory, name, states):
    """Whether a conflict copy holds what was promised: where the index was lost, it cannot know which version is newer."""
    stem = os.path.basename(name)
    parent = os.path.dirname(f"{directory}/{name}")
    for other in os.listdir(parent) if os.path.isdir(parent) else ():
        if other.startswith(f"{stem} (conflicted copy "):
            with open(f"{parent}/{other}", "rb") as file:
                found = file.read()
            if any(matches(state, found, after_cut) for state in states):
                return True
    return False


def earlier(log_path, name):
    """Every state that a name ever had."""
    model, found = {}, []
    for record, ended in records(log_path):
        if ended is not None:
            apply(model, record, ended)
            if name in (record["path"], record.get("target")):
                found += [state for state in model.get(name, {None}) if state not in found]
    return found


def verify(directory, log_path, after_cut):
    failures = returned = copies = 0
    for name, states in sorted(replay(log_path).items()):
        try:
            with open(f"{directory}/{name}", "rb") as file:
                found = file.read()
        except FileNotFoundError:
            found = None
        if any(matches(state, found, after_cut) for state in states):
            continue
        if after_cut and kept_beside(directory, name, states):
            copies += 1
        elif after_cut and None in states and any(matches(state, found) for state in earlier(log_path, name)):
            returned += 1
        else:
            failures += 1
            shown = "missing" if found is None else f"{len(found)} bytes starting {found[:8].hex()}"
            expected = [state if state in (None, ANY) else (state[0], len(bytes_of(state)) if state[0] != "part" else "part")
                        for state in states]
            print(f"{name}: {shown}; may be {expected}")
            for record, ended in records(log_path)[-400:]:
                if name in (record["path"], record.get("target"), record.get("temporary")):
                    print(f"    {record} {'ended' if ended else 'under way'}")
    print(f"{len(records(log_path))} operations, {failures} broken promises, {copies} kept in conflict copies, "
          f"{returned} earlier versions back")
    sys.exit(1 if failures else 0)


def main():
    if len(sys.argv) == 4 and sys.argv[1] in ("verify", "verify-after-cut"):
        return verify(sys.argv[2], sys.argv[3], sys.argv[1] == "verify-after-cut")
    if len(sys.argv) != 5 or sys.argv[1] not in ("write", "durable"):
        sys.exit(__doc__)
    try:
        write(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[1] == "durable")
    except OSError as error:
        # The daemon was killed under it: that is what it is for.
        if error.errno not in (errno.ENOTCONN, errno.ECONNABORTED, errno.EIO, errno.ENODEV, errno.EINTR):
            raise


if __name__ == "__main__":
    main()
