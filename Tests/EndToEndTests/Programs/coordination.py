"""Coordination from the outside: apps that speak the socket, and shell tools on the mount.

    coordination.py QUIRE HOME MOUNTPOINT EDITOR

Each step asserts what is printed, which callbacks come in which order, and who waits. Exits 0 when all of it is so.
"""
import json, os, queue, signal, socket, subprocess, sys, threading, time

quire, home, mount, editor_program = sys.argv[1:5]
PATIENCE = 20


class App:
    """A connection to the daemon, in this process or (as a child) in one of its own."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(home, "daemon.sock"))
        self.next = 1
        self.answers, self.calls = {}, queue.Queue()
        self.arrived = threading.Condition()
        self.reacquires = True
        self.answering = True
        self.error = None
        threading.Thread(target=self.listen, daemon=True).start()

    def send(self, message):
        self.socket.sendall((json.dumps(dict(message, jsonrpc="2.0")) + "\n").encode())

    def listen(self):
        try:
            for line in self.socket.makefile():
                message = json.loads(line)
                if message.get("method") == "presenter.call":
                    # An upload may begin or end at any moment; what is told of it other tests wait for.
                    if message["params"]["callback"] != "ubiquityAttributes":
                        self.calls.put(message["params"])
                    if self.answering:
                        self.answer(message)
                elif "id" in message:
                    with self.arrived:
                        self.answers[message["id"]] = message
                        self.arrived.notify_all()
        except OSError:
            pass

    def answer(self, message):
        if self.error and message["params"]["callback"] == "saveChanges":
            return self.send({"id": message["id"], "error": {"code": 1, "message": self.error}})
        result = {"reacquires": self.reacquires} if "relinquish" in message["params"]["callback"] else {}
        self.send({"id": message["id"], "result": result})

    def begin(self, method, **parameters):
        number, self.next = self.next, self.next + 1
        self.send({"id": number, "method": method, "params": parameters})
        return number

    def end(self, number, patience=PATIENCE):
        with self.arrived:
            if not self.arrived.wait_for(lambda: number in self.answers, patience):
                return None
            return self.answers.pop(number)

    def ask(self, method, **parameters):
        answer = self.end(self.begin(method, **parameters))
        assert answer is not None, f"{method} {parameters}: no answer"
        assert "result" in answer, f"{method} {parameters}: {answer}"
        return answer["result"]

    def refused(self, method, kind, **parameters):
        answer = self.end(self.begin(method, **parameters))
        assert answer and answer.get("error", {}).get("data", {}).get("kind") == kind, f"{method}: {answer}"
        return answer["error"]["message"]

    def claim(self, path, access, **more):
        return self.ask("coordination.acquire", path=path, access=access, **more)["claim"]

    def release(self, claim):
        self.ask("coordination.release", claim=claim)

    def heard(self, *expected):
        """The next callbacks are these, in this order."""
        last = None
        for want in expected:
            came = self.callback(want)
            # Once, or twice where the index is brought up to date in the middle of the change.
            while came != want and came == last == "didChange":
                came = self.callback(want)
            assert came == want, f"{came} came, not {want}"
            last = came

    def callback(self, want):
        try:
            call = self.calls.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"{want} did not come")
        return call["callback"] + (f" {call['path']}" if "path" in call else "")

    def silent(self):
        time.sleep(0.1)
        assert self.calls.empty(), self.calls.get()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)


def sh(script, status=0):
    done = subprocess.run(
        ["timeout", "-s", "KILL", str(PATIENCE), "sh", "-c", script], cwd=mount, capture_output=True, text=True)
    assert done.returncode == status, f"{script}: {done}"
    return done.stdout


def eventually(what, condition):
    end = time.time() + PATIENCE
    while not condition():
        assert time.time() < end, f"not within {PATIENCE} s: {what}"
        time.sleep(0.02)


def coordination():
    return subprocess.run(
        [quire, "coordination", "--home", home], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout


def editor_example():
    """cat prints what is typed and not saved; what a shell writes is in the editor; it follows mv."""
    with open(editor_program) as file:
        assert len(file.readlines()) <= 60, "it is no client in sixty lines any more"
    sh("printf 'start\\n' > note.txt")
    editor = subprocess.Popen(
        [sys.executable, editor_program, home, mount, "note.txt"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, bufsize=1)
    lines = queue.Queue()
    threading.Thread(target=lambda: [lines.put(line.strip()) for line in editor.stdout], daemon=True).start()

    def tell(command):
        editor.stdin.write(command + "\n")

    def shows(text):
        def matches():
            tell("show")
            while True:
                line = lines.get(timeout=PATIENCE)
                if line.startswith("text "):
                    return json.loads(line[5:]) == text
        eventually(f"the editor shows {text!r}", matches)

    eventually("the editor presents", lambda: "note.txt" in coordination())
    assert "python3" in coordination() and str(editor.pid) in coordination(), coordination()
    tell("type hello")
    shows("start\nhello\n")
    assert sh("cat note.txt") == "start\nhello\n"
    sh("echo more >> note.txt")
    shows("start\nhello\nmore\n")
    sh("mv note.txt moved.txt")
    eventually("the editor follows", lambda: "moved.txt" in coordination())
    tell("type last")
    shows("start\nhello\nmore\nlast\n")
    assert sh("cat moved.txt") == "start\nhello\nmore\nlast\n"
    # Stopped, it is passed over after two seconds, and once only.
    os.kill(editor.pid, signal.SIGSTOP)
    begun = time.time()
    sh("echo x > moved.txt")
    assert time.time() - begun > 1.5, "nobody asked it"
    assert "does not answer" in coordination(), coordination()
    sh("cat moved.txt")
    os.kill(editor.pid, signal.SIGCONT)
    eventually("it answers again", lambda: "does not answer" not in coordination())
    editor.kill()
    editor.wait()
    eventually("it is gone", lambda: "presents" not in coordination())


def sequences():
    """What shell tools do reaches a presenter in the order that semantics promise."""
    sh("echo a > doc; mkdir -p dir/sub; echo b > dir/sub/b")
    app = App()
    app.ask("presenter.add", path="doc")
    sh("cat doc")
    app.heard("relinquishToReader", "saveChanges", "reacquire")
    sh("echo more >> doc")
    app.heard("relinquishToWriter", "didChange", "reacquire")
    sh("truncate -s 1 doc")
    app.heard("relinquishToWriter", "didChange", "reacquire")
    sh("ls -l; stat doc; find . -name doc; getfattr -d doc || true")
    app.silent()
    for change in ("chmod 600 doc", "setfattr -n user.k -v v doc", "setfattr -x user.k doc",
                   "setfattr -n user.quire.tags -v red doc"):
        sh(change)
        app.heard("relinquishToWriter", "didChange", "reacquire")
    sh("printf new > .doc.swp; mv .doc.swp doc")
    app.heard("relinquishToWriter", "didChange", "reacquire")
    sh("mv doc doc2")
    app.heard("relinquishToWriter", "didMove doc2", "reacquire")
    sh("rm doc2")
    app.heard("relinquishToWriter", "accommodateDeletion", "reacquire")
    app.silent()
    app.close()
    app = App()
    app.ask("presenter.add", path="dir", callbacks=["subitemDidAppear", "subitemDidChange", "subitemDidMove"])
    sh("touch dir/sub/new")
    app.heard("subitemDidAppear dir/sub/new")
    sh("mv dir/sub/new dir/new")
    while (call := app.calls.get(timeout=PATIENCE))["callback"] == "subitemDidChange":
        pass
    assert (call["callback"], call["from"], call["path"]) == ("subitemDidMove", "dir/sub/new", "dir/new"), call
    sh("rm dir/new")
    app.heard("subitemDidChange dir/new")
    app.close()


def claims():
    """Claims of two apps, and of apps against programs."""
    sh("echo 1 > a; echo 2 > b")
    one, two = App(), App()
    held = one.claim("a", "write")
    waiting = two.begin("coordination.acquire", path="a", access="read")
    eventually("it waits", lambda: f"waits for #{held}" in coordination())
    assert two.end(waiting, 0.2) is None
    one.release(held)
    read = two.end(waiting)["result"]
    assert read["paths"] == ["a"], read
    two.release(read["claim"])
    one.refused("coordination.release", "notFound", claim=held)
    # Time-out, cancel, and nonsense.
    held = one.claim("a", "write forDeleting")
    two.refused("coordination.acquire", "busy", path="a", access="read", timeoutSeconds=0.1)
    waiting = two.begin("coordination.acquire", path="a", access="read")
    two.send({"method": "cancel", "params": {"id": waiting}})
    assert two.end(waiting)["error"]["code"] == -32800
    two.refused("coordination.acquire", "usage", path="a", access="read forDeleting")
    two.refused("coordination.release", "notFound", claim=held)
    # A program waits for the app; the app's own process does not.
    shell = subprocess.Popen(["cat", os.path.join(mount, "a")], stdout=subprocess.PIPE, text=True)
    eventually("cat waits", lambda: "pid %d (cat)" % shell.pid in coordination())
    with open(os.path.join(mount, "a"), "w") as file:
        file.write("by the app\n")
    one.release(held)
    assert shell.communicate(timeout=PATIENCE)[0] == "by the app\n"
    # A waiter's item moves.
    held = one.claim("a", "write forMoving")
    waiting = two.begin("coordination.acquire", accesses=[{"path": "a", "access": "read"}, {"path": "b", "access": "write"}])
    eventually("it waits", lambda: f"waits for #{held}" in coordination())
    os.rename(os.path.join(mount, "a"), os.path.join(mount, "a2"))
    assert one.ask("coordination.didMove", claim=held, **{"from": "a", "to": "a2"})["paths"] == ["a2"]
    one.refused("coordination.didMove", "usage", claim=held, **{"from": "b", "to": "c"})
    one.release(held)
    both = two.end(waiting)["result"]
    assert both["paths"] == ["a2", "b"], both
    two.release(both["claim"])
    # Each waits for the other: the newcomer fails, and is told of the cycle.
    first, second = one.claim("a2", "write", purpose="one"), two.claim("b", "write", purpose="two")
    waiting = one.begin("coordination.acquire", path="b", access="write", purpose="one")
    eventually("it waits", lambda: f"waits for #{second}" in coordination())
    assert "waits for" in two.refused("coordination.acquire", "conflict", path="a2", access="write", purpose="two")
    two.release(second)
    one.release(one.end(waiting)["result"]["claim"])
    # Equal purposes never wait for one another, across connections.
    again = two.claim("a2", "write", purpose="one")
    two.release(again)
    # A client that dies inside its accessor: waiters go on.
    waiting = two.begin("coordination.acquire", path="a2", access="write")
    eventually("it waits", lambda: f"waits for #{first}" in coordination())
    one.close()
    two.release(two.end(waiting)["result"]["claim"])
    # A program that keeps a file open for writing and writes nothing holds nobody up for long.
    quiet = subprocess.Popen(["sh", "-c", "exec 3>>b; echo open; exec sleep 60"], cwd=mount, stdout=subprocess.PIPE)
    quiet.stdout.readline()
    # Granted while it still has it open: it does not close it before its minute is over.
    two.release(two.claim("b", "write"))
    assert quiet.poll() is None, "it was waited for until it ended"
    quiet.kill()
    quiet.wait()
    busy = subprocess.Popen(["sh", "-c", "exec 3>>b; while :; do echo x >&3; sleep 0.1; done"], cwd=mount)
    eventually("it writes", lambda: os.path.getsize(os.path.join(mount, "b")) > 6)
    two.refused("coordination.acquire", "busy", path="b", access="read", timeoutSeconds=2)
    busy.kill()
    busy.wait()
    two.close()


def presenters():
    """Presenters of two apps; refusal, preparation, another's ids."""
    sh("echo p > p")
    one, two = App(), App()
    mine = one.ask("presenter.add", path="p", observedAttributes=["isUploaded"])
    theirs = two.ask("presenter.add", path="p", callbacks=["relinquishToWriter", "didChange"])
    # Its own coordinator neither asks nor tells it.
    held = one.claim("p", "write", presenter=mine["presenter"])
    two.heard("relinquishToWriter")
    with open(os.path.join(mount, "p"), "w") as file:
        file.write("changed\n")
    one.release(held)
    two.heard("didChange", "reacquire")
    one.silent()
    two.refused("presenter.remove", "notFound", presenter=mine["presenter"])
    two.refused("presenter.add", "usage", path="p", callbacks=["nonsense"])
    two.refused("coordination.acquire", "notFound", path="p", access="read", presenter=mine["presenter"])
    one.error = "the disk of the app is full"
    assert one.error in two.refused(
        "coordination.acquire", "notAllowed", path="p", access="read", presenter=theirs["presenter"])
    one.heard("relinquishToReader", "saveChanges", "reacquire")
    # A program goes on where a presenter cannot save.
    assert sh("cat p") == "changed\n"
    one.heard("relinquishToReader", "saveChanges")
    one.error = None
    while not one.calls.empty():
        one.calls.get()
    prepared = two.ask(
        "coordination.prepare", path="", access="read", purpose=theirs["purpose"], presenter=theirs["presenter"])
    time.sleep(0.2)
    while not one.calls.empty():
        one.calls.get()
    inner = two.claim("p", "read withoutChanges", purpose=theirs["purpose"], presenter=theirs["presenter"])
    two.release(inner)
    one.silent()
    two.release(prepared["claim"])
    one.heard("reacquire")
    one.ask("presenter.setPath", presenter=mine["presenter"], path="elsewhere")
    sh("cat p")
    one.silent()
    one.ask("presenter.remove", presenter=mine["presenter"])
    # Gone while it is asked: whoever waits goes on.
    two.answering = False
    waiting = one.begin("coordination.acquire", path="p", access="write")
    two.heard("relinquishToWriter")
    two.close()
    one.release(one.end(waiting)["result"]["claim"])
    one.close()


def busy_app():
    """An app with as many queries as may run is heard on: what it holds, what it is asked, what it takes back."""
    sh("echo a > doc; echo b > doc2")
    app, other = App(), App()
    app.ask("presenter.add", path="doc2", callbacks=["relinquishToWriter", "saveChanges"])
    query = {"query": {"name": "*.none", "countOnly": False}, "batchingMilliseconds": 0}
    queries = [app.begin("query.live", **query) for _ in range(256)]
    assert "256 queries" in app.refused("query.live", "busy", **query)
    held = app.claim("doc", "write")
    waiting = other.begin("coordination.acquire", path="doc", access="write")
    app.release(held)
    claim = other.end(waiting)["result"]["claim"]
    waiting = app.begin("coordination.acquire", path="doc", access="write")
    other.release(claim)
    app.release(app.end(waiting)["result"]["claim"])
    other.release(other.claim("doc2", "write"))
    app.heard("relinquishToWriter", "reacquire")
    app.send({"method": "cancel", "params": {"id": queries[0]}})
    assert app.end(queries[0])["error"]["code"] == -32800
    queries[0] = app.begin("query.live", **query)
    assert app.ask("pathStatus", path="doc")["kind"] == "file"
    assert queries[0] not in app.answers
    app.close()
    other.close()


for step in [sequences, claims, presenters, busy_app, editor_example]:
    step()
    print(step.__name__, "ok", flush=True)
eventually("nothing is left", lambda: coordination() == "nobody\n")
