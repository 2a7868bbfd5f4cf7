"""The example editor in a pseudo-terminal, as a person would use it, beside shell tools and a second device.

    text_editor.py EDITOR QUIRE HOME MOUNTPOINT OTHERHOME OTHERMOUNTPOINT

Each step asserts what is on the screen and in the file. Prints how long things took, in milliseconds; none is a limit.
"""
import fcntl, os, pty, re, signal, struct, subprocess, sys, termios, threading, time

editor, quire, home, mount, other_home, other_mount = sys.argv[1:7]
PATIENCE = 30
ROWS, COLUMNS = 24, 80


class Screen:
    """A program in a terminal: what it shows, and a keyboard."""

    def __init__(self, *command):
        self.lines = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.changed = threading.Condition()
        self.is_over = False
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execv(command[0], command)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        pending = b""
        while True:
            try:
                data = os.read(self.terminal, 65536)
            except OSError:  # EIO: the program has ended
                data = b""
            with self.changed:
                if not data:
                    self.is_over = True
                    return self.changed.notify_all()
                pending = self.show(pending + data)
                self.changed.notify_all()

    def show(self, data):
        """Follows the few sequences that the editor uses; returns what is not complete yet."""
        try:
            text, rest = data.decode(), b""
        except UnicodeDecodeError as error:
            text, rest = data[: error.start].decode(), data[error.start:]
        while text:
            sequence = re.match(r"\x1b\[([\d;]*)([A-Za-z])", text)
            if sequence:
                self.obey(sequence[2], [int(number) for number in sequence[1].split(";") if number])
                text = text[sequence.end():]
            elif text[0] == "\x1b":
                return text.encode() + rest
            else:
                if text[0] >= " " and self.column < COLUMNS:
                    self.lines[self.row][self.column] = text[0]
                    self.column += 1
                text = text[1:]
        return rest

    def obey(self, letter, numbers):
        if letter == "H":
            self.row, self.column = [number - 1 for number in numbers] or [0, 0]
        elif letter == "K":
            self.lines[self.row][self.column:] = [" "] * (COLUMNS - self.column)
        elif letter == "J":
            self.lines = [[" "] * COLUMNS for _ in range(ROWS)]

    def text(self):
        return [("".join(line)).rstrip() for line in self.lines]

    def shows(self, *wanted, title=None):
        """Waits until these lines are under the title, and the title has `title` in it. Returns when it was so."""
        def matches():
            lines = self.text()
            return (title is None or title in lines[0]) and lines[1:1 + len(wanted)] == list(wanted)
        with self.changed:
            assert self.changed.wait_for(lambda: matches() or self.is_over, PATIENCE) and matches(), (
                f"not shown: {wanted} {title}\n" + "\n".join(self.text()))
            return time.monotonic()

    def says(self, message):
        with self.changed:
            assert self.changed.wait_for(lambda: message in self.text()[-1], PATIENCE), (
                f"not said: {message}\n" + "\n".join(self.text()))

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def wait(self):
        """The exit status."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.is_over, PATIENCE), "it did not end\n" + "\n".join(self.text())
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def sh(script, directory=mount):
    done = subprocess.run(
        ["timeout", "-s", "KILL", str(PATIENCE), "sh", "-c", script], cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, f"{script}: {done}"
    return done.stdout


def reads(path, text):
    """A shell finds `text` in a file."""
    found = sh(f"cat {path}")
    assert found == text, f"{path}: {found!r}, not {text!r}"


def sync(of):
    subprocess.run([quire, "--home", of, "sync", "--timeout", "45"], check=True, capture_output=True, timeout=60)


def median(what, milliseconds):
    ordered = sorted(milliseconds)
    print(f"{what}: median {ordered[len(ordered) // 2]:.1f} ms, longest {ordered[-1]:.1f} ms of {len(ordered)}", flush=True)


def milliseconds_since(start):
    return (time.monotonic() - start) * 1000


def unsaved_text_is_read(screen):
    screen.type("hello\r")
    screen.shows("hello", "start", title="[unsaved]")
    reads("note.txt", "hello\nstart\n")
    screen.shows("hello", "start", title="[saved]")
    times = []
    for number in range(10):
        screen.type(str(number))
        screen.shows("hello", "0123456789"[: number + 1] + "start", title="[unsaved]")
        begin = time.monotonic()
        with open(os.path.join(mount, "note.txt")) as file:
            text = file.read()
        times.append(milliseconds_since(begin))
        assert text == "hello\n" + "0123456789"[: number + 1] + "start\n", text
    median("reading a file with unsaved edits", times)


def others_write(screen):
    sh("echo x >> note.txt")
    screen.shows("hello", "0123456789start", "x", title="[saved]")
    # What is unsaved when somebody appends stays, and so does what was appended.
    screen.type("!")
    screen.shows("hello", "0123456789!start", "x", title="[unsaved]")
    sh("echo y >> note.txt")
    screen.shows("hello", "0123456789!start", "x", "y", title="[saved]")
    reads("note.txt", "hello\n0123456789!start\nx\ny\n")
    times = []
    for number in range(10):
        # What it has not read would be kept beside what it writes.
        with open(os.path.join(mount, "note.txt")) as file:
            file.read()
        begin = time.monotonic()
        with open(os.path.join(mount, "note.txt"), "w") as file:
            file.write(f"round {number}\n")
        times.append((screen.shows(f"round {number}", "", title="[saved]") - begin) * 1000)
    median("a write of others to the window", times)
    # As vim and others save.
    sh("printf 'replaced\\n' > .note.txt.swp; mv .note.txt.swp note.txt")
    screen.shows("replaced", "", title="note.txt  [saved]")


def edits_are_taken_back(screen):
    screen.type("AB")
    screen.shows("replaced", "AB", title="[unsaved]")
    screen.type("\x1a\x1a")
    screen.shows("replaced", "", title="[saved]")
    screen.type("\x19")
    screen.shows("replaced", "A", title="[unsaved]")
    screen.type("\x13")
    screen.shows("replaced", "A", title="[saved]")
    # What others write ends what can be taken back.
    sh("printf 'replaced\\n' > note.txt")
    screen.shows("replaced", "", title="[saved]")
    screen.type("\x1a")
    screen.shows("replaced", "", title="[saved]")


def others_move(screen):
    times = []
    for number in range(6):
        names = ["note.txt", "renamed.txt"]
        old, new = names if number % 2 == 0 else reversed(names)
        begin = time.monotonic()
        os.rename(os.path.join(mount, old), os.path.join(mount, new))
        times.append((screen.shows("replaced", title=new) - begin) * 1000)
    median("a rename to the window", times)
    sh("mkdir sub; mv note.txt sub/moved.txt")
    # Until the mover is done nothing can be typed.
    screen.shows("replaced", title="moved.txt  [saved]")
    # It is saved where it is now.
    screen.type("X\x13")
    screen.shows("replaced", "X", title="[saved]")
    assert sh("cat sub/moved.txt; ls -A") == "replaced\nXsub\n"


def another_device_writes(screen):
    sync(home)
    sync(other_home)
    sh("echo 'from afar' > sub/moved.txt", other_mount)
    sync(other_home)
    begin = time.monotonic()
    sync(home)
    milliseconds = (screen.shows("from afar", "", title="[saved]") - begin) * 1000
    print(f"another device's change to the window: {milliseconds:.1f} ms, quire sync included", flush=True)


def others_remove(screen):
    screen.shows("from afar")
    begin = time.monotonic()
    os.unlink(os.path.join(mount, "sub/moved.txt"))
    shown = screen.shows("from afar", title="[closed]")
    print(f"a deletion to the window: {(shown - begin) * 1000:.1f} ms", flush=True)
    screen.says("deleted elsewhere")
    assert sh("ls -A sub") == ""


sh("printf 'start\\n' > note.txt")
window = Screen(editor, "--no-autosave", os.path.join(mount, "note.txt"))
try:
    window.shows("start", "", title="note.txt  [saved]")
    for step in [unsaved_text_is_read, others_write, edits_are_taken_back, others_move, another_device_writes, others_remove]:
        step(window)
    window.type("\x11")
    assert window.wait() == 0
    # Leaving saves; a document that is not there is made.
    window = Screen(editor, os.path.join(mount, "made.txt"))
    window.shows("", title="made.txt  [saved]")
    window.type("Größe\r\x1b[A→\x11")
    assert window.wait() == 0
    reads("made.txt", "→Größe\n")
    print("all steps", flush=True)
finally:
    if not window.is_over:
        os.kill(window.pid, signal.SIGKILL)
