"""Mixed load on two devices for long, with samples of what their daemons hold.

usage: soak.py [--minutes N] [--every SECONDS] [--seed N] [--table FILE] --quire FILE --stress FILE HOME MOUNT HOME MOUNT

Both drives are mounted, on one provider. Programs save as editors do, pack and unpack archives, commit to git, write to
SQLite, read and write at random, fight over names, list, evict and read again; both devices sync all the while. Each
sample is a line: memory, descriptors, threads of each daemon, what its driver knows, what its index has still to take.

What has to hold:
  flat      over the last two thirds, the median slope (Theil and Sen) of memory is at most 15 % of its median, or 16 MB,
            an hour; that of descriptors (without cached directories and open files) and of threads at most 6 an hour.
            Judged from ten minutes on: less is noise.
  released  when the load has ended no handle is open and no request waits; descriptors and threads are near what they
            were before it, and when the kernel forgets (root only), so does the driver.
  right     every program finds what it wrote; both drives sync, `quire check` finds nothing, and both show the same.
"""
import argparse
import hashlib
import itertools
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PROGRAMS = os.path.dirname(os.path.abspath(__file__))


class Failure(Exception):
    pass


def run(arguments, directory="/", limit=300, wanted=(0,)):
    done = subprocess.run(arguments, cwd=directory, capture_output=True, text=True, timeout=limit, errors="replace")
    if done.returncode not in wanted:
        raise Failure(f"{' '.join(arguments)[:300]}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Device:
    """One drive, and what is known of its daemon."""

    def __init__(self, chosen, home, mount):
        self.home, self.mount, self.quire_path = home, mount, chosen.quire
        with open(f"{home}/daemon.pid") as file:
            self.process = int(file.read().split()[0])

    def quire(self, *arguments, wanted=(0,), limit=300):
        return run([self.quire_path, "--home", self.home, *arguments], wanted=wanted, limit=limit)

    def sample(self):
        with open(f"/proc/{self.process}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        driver = json.loads(self.quire("status", "--driver", "--json"))
        return {
            "resident": int(fields["VmRSS"].split()[0]) / 1024,
            "threads": int(fields["Threads"]),
            # The cached directories have a limit of their own, open files are the programs'.
            "descriptors": len(os.listdir(f"/proc/{self.process}/fd")) - driver["directoryDescriptors"]["used"]
            - driver["openFiles"],
            "directories": driver["directoryDescriptors"]["used"],
            "nodes": driver["nodes"], "handles": driver["openFiles"], "waiting": driver["parked"],
            "queued": driver["queuedEvents"],
        }


COLUMNS = ["resident", "descriptors", "threads", "nodes", "directories", "handles", "waiting", "queued"]


class Load:
    """The programs that work on the drives until they are told to stop."""

    def __init__(self, chosen, one, two):
        self.chosen, self.one, self.two = chosen, one, two
        self.stopping = threading.Event()
        self.rounds = {}
        self.failures = []
        self.scratch = tempfile.mkdtemp(prefix="quire-soak-")
        self.seeds = itertools.count(chosen.seed)

    def start(self):
        works = [
            ("contents", self.contents), ("names", self.names), ("editors", self.editors), ("tar", self.tar),
            ("git", self.git), ("sqlite", self.sqlite), ("listing", self.listing), ("evict", self.evict),
            ("editors on two", self.editors_on_two), ("sync one", lambda _: self.sync(self.one)),
            ("sync two", lambda _: self.sync(self.two)),
        ]
        for device in (self.one, self.two):
            os.mkdir(f"{self.own(device)}")
        self.threads = [threading.Thread(target=self.repeat, args=work, daemon=True) for work in works]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(timeout=330)
            if thread.is_alive():
                self.failures.append("a program did not end")
        shutil.rmtree(self.scratch)

    def own(self, device):
        return f"{device.mount}/{'one' if device is self.one else 'two'}"

    def repeat(self, name, work):
        self.rounds[name] = 0
        source = random.Random(f"{self.chosen.seed} {name}")
        while not self.stopping.is_set() and not self.failures:
            try:
                work(source)
            except Exception as error:  # told at the end, with the others
                self.failures.append(f"{name}, round {self.rounds[name]}: {type(error).__name__}: {error}")
                print(f"{time.strftime('%H:%M:%S')} {self.failures[-1]}", flush=True)
            self.rounds[name] += 1
            self.stopping.wait(source.random() * 0.5)

    def stress(self, load, seconds, *options):
        directory = f"{self.own(self.one)}/{load}"
        os.makedirs(directory, exist_ok=True)
        run([self.chosen.stress, load, "--seed", str(next(self.seeds)), "--seconds", str(seconds), *options, directory])
        return directory

    def contents(self, _):
        self.stress("contents", 3, "--processes", "1", "--size", "131072")

    def names(self, _):
        shutil.rmtree(self.stress("names", 1, "--processes", "3"))

    def save_all(self, directory, source, count=6):
        os.makedirs(directory, exist_ok=True)
        for _ in range(count):
            path = f"{directory}/document{source.randrange(30)}.txt"
            body = source.randbytes(source.randrange(20_000))
            way = source.randrange(3)
            if way == 0:
                temporary = f"{directory}/.goutputstream-{source.randrange(10**6)}"
                write(temporary, body, fsync=True)
                os.rename(temporary, path)
            elif way == 1:
                if os.path.exists(path):
                    os.rename(path, f"{path}~")
                write(path, body)
                if os.path.exists(f"{path}~"):
                    os.unlink(f"{path}~")
            else:
                write(path, body)
            with open(path, "rb") as file:
                if file.read() != body:
                    raise Failure(f"{path} is not what was saved")

    def editors(self, source):
        self.save_all(f"{self.own(self.one)}/documents", source)

    def editors_on_two(self, source):
        self.save_all(f"{self.own(self.two)}/documents", source)
        run(["find", self.two.mount, "-name", "document*"], wanted=(0, 1))

    def tar(self, source):
        packed, place = f"{self.scratch}/packed.tar", f"{self.own(self.one)}/unpacked"
        if not os.path.exists(packed):
            tree = f"{self.scratch}/tree"
            for number in range(300):
                os.makedirs(f"{tree}/d{number % 20}", exist_ok=True)
                write(f"{tree}/d{number % 20}/f{number}", source.randbytes(source.randrange(8000)))
            run(["tar", "-cf", packed, "-C", self.scratch, "tree"])
        os.makedirs(place)
        run(["tar", "-xf", packed, "-C", place])
        run(["tar", "-df", packed, "-C", place])
        run(["cp", "-a", f"{place}/tree", f"{place}/copy"])
        run(["diff", "-r", f"{place}/tree", f"{place}/copy"])
        shutil.rmtree(place)

    def git(self, source):
        place = f"{self.own(self.one)}/repository"
        command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-C", place]
        if not os.path.exists(place):
            run(["git", "init", "-q", place])
        for number in range(20):
            write(f"{place}/source{number}", source.randbytes(2000))
        run([*command, "add", "-A"])
        run([*command, "commit", "-qm", "work"])
        run([*command, "status", "--porcelain"])
        if source.randrange(10) == 0:
            run([*command, "fsck", "--strict"])
            shutil.rmtree(place)

    def sqlite(self, source):
        place = f"{self.own(self.one)}/base"
        os.makedirs(place, exist_ok=True)
        mode = source.choice(["wal", "delete"])
        base = sqlite3.connect(f"{place}/base.sqlite", timeout=60)
        try:
            base.execute(f"PRAGMA journal_mode={mode}")
            base.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, v BLOB, sum TEXT)")
            for _ in range(5):
                with base:
                    for _ in range(20):
                        body = source.randbytes(source.randrange(3000))
                        base.execute("INSERT OR REPLACE INTO t VALUES (?, ?, ?)",
                                     (source.randrange(500), body, hashlib.sha256(body).hexdigest()))
            for body, digest in base.execute("SELECT v, sum FROM t"):
                if hashlib.sha256(body).hexdigest() != digest:
                    raise Failure("a row of the base is torn")
            if base.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
                raise Failure("the base is damaged")
        finally:
            base.close()

    def listing(self, _):
        # Others work there: what vanishes under a listing is no failure. Nor is it that du aborts (-6) when directories
        # are moved under it: it does so on a disk, too.
        for command in (["find", "."], ["du", "-s", "."], ["ls", "-lR", "."], ["grep", "-rl", "nothing such", "."]):
            run(command, directory=self.one.mount, wanted=(0, 1, 2, -6 if command[0] == "du" else 0))

    def evict(self, source):
        """Content goes and comes back."""
        for device in (self.one, self.two):
            place = f"{self.own(device)}/kept"
            if not os.path.exists(place):
                os.mkdir(place)
                for number in range(10):
                    write(f"{place}/f{number}", random.Random(number).randbytes(30_000 + number))
            # Not yet uploaded is a refusal.
            device.quire("evict", place, wanted=(0, 1, 2, 69, 75))
            for number in source.sample(range(10), 3):
                with open(f"{place}/f{number}", "rb") as file:
                    if file.read() != random.Random(number).randbytes(30_000 + number):
                        raise Failure(f"{place}/f{number} came back as something else")

    def sync(self, device):
        # The load removes more than half of the drive at once now and then, and means it.
        device.quire("sync", "--confirm-deletes", "--timeout", "5", wanted=(0, 2, 75))


def write(path, body, fsync=False):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        view = memoryview(body)
        while view:
            view = view[os.write(descriptor, view):]
        if fsync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def slope_per_hour(samples, column):
    """Median of the slopes between all pairs of samples."""
    points = [(sample["time"], sample[column]) for sample in samples]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.combinations(points, 2) if b[0] > a[0]]
    return statistics.median(slopes) * 3600


def judge_flat(name, samples, problems):
    late = samples[len(samples) // 3:]
    for column, least in (("resident", 16), ("descriptors", 6), ("threads", 6)):
        middle = statistics.median(sample[column] for sample in late)
        slope = slope_per_hour(late, column)
        bound = max(least, 0.15 * middle) if column == "resident" else least
        verdict = "flat" if slope <= bound else "GROWS"
        print(f"{name}: {column}: median {middle:.0f}, highest {max(s[column] for s in late):.0f}, "
              f"{slope:+.1f} an hour, bound {bound:.0f}: {verdict}")
        if slope > bound:
            problems.append(f"{name}: {column} grows by {slope:.1f} an hour")


def judge_released(name, device, before, problems):
    end = time.monotonic() + 60
    while True:
        after = device.sample()
        left = [f"{column} {after[column]}" for column in ("handles", "waiting", "queued") if after[column] != 0]
        for column, slack in (("descriptors", 8), ("threads", 24)):
            if after[column] > before[column] + slack:
                left.append(f"{column} {after[column]}, before the load {before[column]}")
        if not left or time.monotonic() > end:
            break
        time.sleep(0.2)
    problems.extend(f"{name}: left when the load had ended: {what}" for what in left)
    if os.geteuid() == 0:
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("2")
        forgotten = device.sample()
        print(f"{name}: nodes {after['nodes']}, when the kernel has forgotten {forgotten['nodes']}; "
              f"resident {after['resident']:.0f} MB, then {forgotten['resident']:.0f} MB; "
              f"descriptors {after['descriptors']}, threads {after['threads']}")
        if forgotten["nodes"] > 200 and forgotten["nodes"] > after["nodes"] / 2:
            problems.append(f"{name}: the driver still knows {forgotten['nodes']} nodes")


def tree(directory):
    return run([sys.executable, f"{PROGRAMS}/tree.py", "--file-mtime", "--no-links", directory])


def judge_right(devices, problems):
    for _ in range(3):
        for device in devices:
            try:
                device.quire("sync", "--confirm-deletes", "--timeout", "120", wanted=(0, 2))
            except Failure as error:
                problems.append(str(error))
    for device in devices:
        try:
            print(device.quire("check").strip())
        except Failure as error:
            problems.append(str(error))
    try:
        one, two = (set(tree(device.mount).splitlines()) for device in devices)
    except Failure as error:
        problems.append(f"a drive cannot be read: {error}")
        return
    if one != two:
        differences = [f"+ {line}" for line in sorted(one - two)[:10]] + [f"- {line}" for line in sorted(two - one)[:10]]
        problems.append("the drives differ:\n" + "\n".join(differences))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--every", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--table")
    parser.add_argument("--quire", required=True)
    parser.add_argument("--stress", required=True)
    parser.add_argument("places", nargs=4)
    chosen = parser.parse_args()
    devices = [Device(chosen, *chosen.places[:2]), Device(chosen, *chosen.places[2:])]
    names = ["one", "two"]
    print(f"soak: {chosen.minutes} minutes, seed {chosen.seed}", flush=True)
    before = [device.sample() for device in devices]
    load = Load(chosen, *devices)
    load.start()
    started, samples, problems = time.monotonic(), {name: [] for name in names}, []
    header = "minute " + " ".join(f"{name}.{column}" for name in names for column in COLUMNS)
    table = [header]
    while (passed := time.monotonic() - started) < chosen.minutes * 60 and not load.failures:
        row = [f"{passed / 60:.2f}"]
        for name, device in zip(names, devices):
            sample = device.sample() | {"time": passed}
            samples[name].append(sample)
            row += [f"{sample[column]:.0f}" for column in COLUMNS]
        table.append(" ".join(row))
        print(table[-1], flush=True)
        if chosen.table:
            with open(chosen.table, "w") as file:
                file.write("\n".join(table) + "\n")
        time.sleep(max(0.05, chosen.every - (time.monotonic() - started - passed)))
    lasted = time.monotonic() - started
    load.stop()
    problems += load.failures
    print("rounds: " + ", ".join(f"{name} {count}" for name, count in load.rounds.items()))
    judge_right(devices, problems)
    for name, device, earlier in zip(names, devices, before):
        judge_released(name, device, earlier, problems)
        if lasted >= 600:
            judge_flat(name, samples[name], problems)
    for problem in problems:
        print(f"PROBLEM: {problem}")
    print("soak: " + ("failed" if problems else "nothing grew, nothing was lost"))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
