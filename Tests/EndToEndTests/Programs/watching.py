"""What programs that watch a drive with inotify see of another device's changes.

    watching.py SCENARIO QUIRE HOME MOUNT OTHER_HOME OTHER_MOUNT

Changes are made on OTHER_MOUNT, and watched on MOUNT. Each step asserts what is told, and in which order. Exits 0 when all of it
is so.
"""
import ctypes, json, os, re, select, signal, socket, struct, subprocess, sys, threading, time

scenario, quire, home, mount, other_home, other_mount = sys.argv[1:7]
PATIENCE = 30
# Of <sys/inotify.h>.
NAMES = {
    0x2: "MODIFY", 0x4: "ATTRIB", 0x8: "CLOSE_WRITE", 0x40: "MOVED_FROM", 0x80: "MOVED_TO", 0x100: "CREATE",
    0x200: "DELETE", 0x400: "DELETE_SELF", 0x800: "MOVE_SELF", 0x8000: "IGNORED",
}
IS_DIRECTORY, WANTED = 0x40000000, 0xFCE
TOKEN = re.compile(r"\.quire-arriving-[0-9a-f]+~")
libc = ctypes.CDLL(None, use_errno=True)


class Watch:
    """What is told of some directories and files, by the names that the test gives them."""

    def __init__(self, **paths):
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.labels, self.told, self.pairs = {}, [], {}
        for label, path in paths.items():
            number = libc.inotify_add_watch(self.descriptor, os.fsencode(os.path.join(mount, path)), WANTED)
            assert number >= 0, f"{path}: {os.strerror(ctypes.get_errno())}"
            self.labels[number] = label

    def read(self, seconds):
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return False
        events = os.read(self.descriptor, 65536)
        while events:
            number, mask, cookie, length = struct.unpack_from("iIII", events)
            name = os.fsdecode(events[16:16 + length].rstrip(b"\0"))
            words = [word for bit, word in NAMES.items() if mask & bit]
            assert len(words) == 1, f"{mask:x}"
            if TOKEN.fullmatch(name):
                # Only ever as where something was moved from, and nobody finds it.
                assert words == ["MOVED_FROM"], f"{words} {name}"
                directory = {"d": "d"}.get(self.labels[number], ".")
                assert not os.path.lexists(os.path.join(mount, directory, name)), name
                name = "TOKEN"
            text = f"{self.labels[number]}: {words[0]}{' directory' if mask & IS_DIRECTORY else ''} {name}".rstrip()
            self.told.append(text)
            if cookie:
                self.pairs.setdefault(cookie, []).append(text)
            events = events[16 + length:]
        return True

    def rest(self):
        return [text for text in self.told if "ATTRIB" not in text]

    def expect(self, *wanted):
        """Until all of these were told, in this order; nothing else was, but of attributes. Returns all that was."""
        end = time.monotonic() + PATIENCE
        while len(self.rest()) < len(wanted) and self.read(max(0, end - time.monotonic())):
            pass
        self.read(0.05)
        assert self.rest() == list(wanted), f"told: {self.told}, wanted: {wanted}"
        for pair in self.pairs.values():
            assert len(pair) == 2 and "MOVED_FROM" in pair[0] and "MOVED_TO" in pair[1], pair
        return self.forget()

    def expect_any(self, *wanted):
        """The same in whatever order."""
        end = time.monotonic() + PATIENCE
        while len(self.rest()) < len(wanted) and self.read(max(0, end - time.monotonic())):
            pass
        self.read(0.05)
        assert sorted(self.rest()) == sorted(wanted), f"told: {self.told}, wanted: {wanted}"
        self.forget()

    def forget(self):
        """What was told so far."""
        while self.read(0.1):
            pass
        told, self.told, self.pairs = self.told, [], {}
        return told


def run(*arguments, **more):
    return subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=90, **more).stdout


def sync():
    run(quire, "--home", other_home, "sync", "--timeout", "45")
    run(quire, "--home", home, "sync", "--timeout", "45")


def elsewhere(script):
    """On the other device; returns when both have it."""
    run("sh", "-ec", script, cwd=other_mount)
    sync()


def here(script):
    return run("sh", "-ec", script, cwd=mount)


def status():
    return json.loads(run(quire, "--home", home, "status", "--json"))


def daemon():
    with open(os.path.join(home, "daemon.pid")) as file:
        return int(file.read().split()[0])


def voice():
    """The process that calls for the daemon."""
    found = subprocess.run(
        ["pgrep", "-P", str(daemon()), "-f", "--", "--voice-of-mount"], capture_output=True, text=True).stdout
    return [int(number) for number in found.split()]


def events():
    """Files and directories that come, are replaced, moved and deleted."""
    elsewhere("mkdir d e; echo 1 > d/doc; echo x > d/other; ln -s doc d/link")
    here("cat d/doc; ls -lR")
    watch = Watch(d="d", e="e", doc="d/doc")
    elsewhere("echo new > d/new")
    watch.expect("d: MOVED_FROM TOKEN", "d: MOVED_TO new")
    assert here("cat d/new") == "new\n"
    # What is read comes here: that is no change.
    watch.forget()
    elsewhere("echo second > d/.t; mv d/.t d/doc")
    told = watch.expect("d: MOVED_FROM TOKEN", "d: MOVED_TO doc", "doc: DELETE_SELF", "doc: IGNORED")
    assert "doc: ATTRIB" in told, told
    assert here("cat d/doc") == "second\n"
    watch = Watch(d="d", e="e", doc="d/doc")
    elsewhere("ln -sf other d/link")
    watch.expect("d: MOVED_FROM TOKEN", "d: MOVED_TO link")
    assert here("readlink d/link") == "other\n"
    elsewhere("mv d/doc e/moved")
    watch.expect("d: MOVED_FROM doc", "e: MOVED_TO moved", "doc: MOVE_SELF")
    elsewhere("mkdir d/sub")
    watch.expect("d: CREATE directory sub")
    elsewhere("mv d/sub d/under")
    watch.expect("d: MOVED_FROM directory sub", "d: MOVED_TO directory under")
    elsewhere("rmdir d/under; rm d/other")
    watch.expect_any("d: DELETE directory under", "d: DELETE other")
    elsewhere("rm e/moved")
    watch.expect_any("e: DELETE moved", "doc: DELETE_SELF", "doc: IGNORED")
    # In a directory of a directory that nobody watches, and in the root.
    watch = Watch(root=".")
    elsewhere("mkdir -p a/b; echo deep > a/b/deep; echo top > top")
    watch.expect_any("root: CREATE directory a", "root: MOVED_FROM TOKEN", "root: MOVED_TO top")
    assert here("cat a/b/deep top") == "deep\ntop\n"
    assert here("find . | grep -c quire-arriving || true") == "0\n"
    # Nothing of it counts as done here.
    pending = status()["pending"]
    assert not any(pending.values()), pending
    assert not status()["conflicts"]
    assert len(voice()) == 1, voice()


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
        time.sleep(0.02)


def held():
    """A directory that a program keeps locked, as its request waits for an app: there and elsewhere, changes arrive, untold."""
    elsewhere("mkdir held free; echo 1 > held/doc; echo 1 > free/doc")
    here("cat held/doc free/doc")
    app = claims()
    claim = app.claim("held/new", "write")
    watch = Watch(free="free", held="held")
    maker = subprocess.Popen(["mkdir", "held/new"], cwd=mount, stderr=subprocess.DEVNULL)
    wait_for("it waits", lambda: "waits" in run(quire, "--home", home, "coordination"))
    begun = time.monotonic()
    elsewhere("echo 2 > held/.t; mv held/.t held/doc; echo more > held/more; echo 2 > free/.t; mv free/.t free/doc")
    took = time.monotonic() - begun
    assert maker.poll() is None, "it waited no longer"
    assert took < 8, f"{took} s"
    with open(os.path.join(home, "drive/held/more")):
        pass
    app.release(claim)
    assert maker.wait(PATIENCE) == 0
    assert here("cat held/doc held/more free/doc") == "2\nmore\n2\n"
    # Nobody keeps it now: who watches is told again.
    watch.forget()
    elsewhere("echo last > held/last")
    watch.expect("held: MOVED_FROM TOKEN", "held: MOVED_TO last")


def claims():
    """An app on the socket."""
    class App:
        def __init__(self):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(PATIENCE)
            self.socket.connect(os.path.join(home, "daemon.sock"))
            self.lines = self.socket.makefile("rw")
            self.number = 0

        def ask(self, method, **parameters):
            self.number += 1
            self.lines.write(json.dumps(
                {"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}) + "\n")
            self.lines.flush()
            while True:
                message = json.loads(self.lines.readline())
                if message.get("id") == self.number:
                    assert "result" in message, message
                    return message["result"]

        def claim(self, path, access):
            return self.ask("coordination.acquire", path=path, access=access)["claim"]

        def release(self, claim):
            self.ask("coordination.release", claim=claim)

    return App()


def killed():
    """With its process gone, or stopped, changes arrive as before."""
    elsewhere("mkdir d; echo 1 > d/doc")
    here("cat d/doc")
    watch = Watch(d="d")
    elsewhere("echo one > d/one")
    watch.expect("d: MOVED_FROM TOKEN", "d: MOVED_TO one")
    [process] = voice()
    os.kill(process, signal.SIGSTOP)
    elsewhere("echo two > d/two; rm d/one")
    assert here("ls d; cat d/two") == "doc\ntwo\ntwo\n"
    os.kill(process, signal.SIGCONT)
    watch.forget()
    elsewhere("echo three > d/three")
    watch.expect("d: MOVED_FROM TOKEN", "d: MOVED_TO three")
    os.kill(process, signal.SIGKILL)
    wait_for("it is gone", lambda: not os.path.exists(f"/proc/{process}/fd/0"))
    elsewhere("echo four > d/four; mkdir d/sub; rm d/three")
    assert here("ls d; cat d/four") == "doc\nfour\nsub\ntwo\nfour\n"
    assert not any(status()["pending"].values())


def dies():
    """The daemon is killed while a program's request keeps a directory locked, of which the kernel is to be told something."""
    elsewhere("mkdir held; echo 1 > held/doc")
    here("cat held/doc")
    app = claims()
    app.claim("held/new", "write")
    maker = subprocess.Popen(["mkdir", "new"], cwd=os.path.join(mount, "held"), stderr=subprocess.DEVNULL)
    wait_for("it waits", lambda: "waits" in run(quire, "--home", home, "coordination"))
    elsewhere("echo more > held/more")
    process = daemon()
    os.kill(process, signal.SIGKILL)
    wait_for("it is gone", lambda: not os.path.exists(f"/proc/{process}/fd/0"))
    assert maker.wait(PATIENCE) != 0


def many():
    """2,000 documents come into a directory that is watched."""
    elsewhere("mkdir d")
    here("ls d")
    watch = Watch(d="d")
    run("sh", "-ec", "for i in $(seq 2000); do echo $i > d/$i; done", cwd=other_mount)
    run(quire, "--home", other_home, "sync", "--timeout", "80")
    begun = time.monotonic()
    run(quire, "--home", home, "sync", "--timeout", "80")
    print(f"2,000 documents: {time.monotonic() - begun:.2f} s")
    while len([text for text in watch.told if "MOVED_TO" in text]) < 2000:
        assert watch.read(5), len(watch.told)


def tree():
    """A program follows whatever directories come: it watches each as it is told of it, at once or late, and lists it then."""
    watch, found, watched, listed = Watch(root="."), set(), {"root": ""}, 0
    stop, may = threading.Event(), threading.Event()

    def follow():
        nonlocal listed
        while not stop.is_set() or watch.read(0.5):
            may.wait()
            watch.read(0.1)
            told, watch.told = watch.told, []
            for text in told:
                label, what = text.split(": ", 1)
                kind, _, name = what.partition(" ")
                name = name.removeprefix("directory ")
                if kind in ("CREATE", "MOVED_TO"):
                    found.add(os.path.join(watched[label], name))
                if what.startswith("CREATE directory"):
                    path = os.path.join(watched[label], name)
                    number = libc.inotify_add_watch(
                        watch.descriptor, os.fsencode(os.path.join(mount, path)), WANTED)
                    assert number >= 0, path
                    watch.labels[number] = path
                    watched[path] = path
                    for entry in os.listdir(os.path.join(mount, path)):
                        found.add(os.path.join(path, entry))
                        listed += 1

    follower = threading.Thread(target=follow)
    follower.start()
    for turn in range(3):
        may.clear() if turn == 1 else may.set()
        elsewhere(f"for d in 1 2 3 4; do mkdir t{turn}-$d; for f in $(seq 60); do echo $f > t{turn}-$d/$f; done; done")
    may.set()
    elsewhere("for d in 1 2 3 4; do for f in $(seq 61 70); do echo $f > t0-$d/$f; done; done")
    stop.set()
    follower.join()
    missing = {os.path.join(f"t{turn}-{d}", str(f)) for turn in range(3) for d in range(1, 5)
               for f in range(1, 71 if turn == 0 else 61)} - found
    print(f"{listed} of {len(found)} by listing, the others were told")
    assert 240 <= listed < 700, listed
    assert not missing, f"{len(missing)} neither told nor listed: {sorted(missing)[:10]}"


{"tree": tree, "events": events, "held": held, "killed": killed, "dies": dies, "many": many}[scenario]()
