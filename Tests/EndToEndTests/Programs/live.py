"""Follows `quire find --live` and checks that every change on the mount is told.

usage: live.py QUIRE HOME MOUNTPOINT CHANGES

Prints, in milliseconds, the 50th and 99th of 100 times from the return of a call to the query's line, and how many trials of a
query that is started after the call did not have it.
"""
import json
import os
import subprocess
import sys
import threading
import time


class Live:
    def __init__(self, quire, home, condition):
        self.process = subprocess.Popen(
            [quire, "find", "--home", home, condition, "--live"], stdout=subprocess.PIPE, text=True)
        self.came = threading.Condition()
        self.lines = []
        # Where somebody wants all that comes, which `wait` drops.
        self.heard = None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.came:
                self.lines.append((time.monotonic(), line.rstrip("\n")))
                if self.heard is not None:
                    self.heard.append(line.rstrip("\n"))
                self.came.notify_all()
        with self.came:
            self.lines.append((time.monotonic(), None))
            self.came.notify_all()

    def wait(self, wanted):
        """Until a line is there; returns when it came, and drops what came before."""
        with self.came:
            while True:
                for index, (moment, line) in enumerate(self.lines):
                    if line == wanted:
                        del self.lines[:index + 1]
                        return moment
                    if line is None:
                        sys.exit(f"the query ended while waiting for {wanted!r}")
                if not self.came.wait(30):
                    sys.exit(f"no line {wanted!r}; there are {self.lines}")


def main():
    quire, home, mountpoint, changes = sys.argv[1:]
    directory = f"{mountpoint}/live"
    os.mkdir(directory)
    with open(f"{directory}/first.note", "w") as file:
        file.write("x")
    live = Live(quire, home, 'name == "*.note"')
    live.wait("+ live/first.note")
    times = []
    missed = 0
    for number in range(int(changes)):
        path = f"{directory}/{number}.note"
        with open(path, "w") as file:
            file.write("text")
        times.append((f"+ live/{number}.note", time.monotonic()))
        times[-1] = live.wait(times[-1][0]) - times[-1][1]
        os.rename(path, f"{directory}/{number}.other")
        done = time.monotonic()
        times.append(live.wait(f"- live/{number}.note") - done)
        os.rename(f"{directory}/{number}.other", path)
        live.wait(f"+ live/{number}.note")
        os.unlink(path)
        done = time.monotonic()
        times.append(live.wait(f"- live/{number}.note") - done)
        if number % 10 == 0:
            with open(f"{directory}/new {number}", "w") as file:
                file.write("text")
            found = subprocess.run(
                [quire, "find", "--home", home, f'name == "new {number}"'], capture_output=True, text=True, check=True)
            missed += found.stdout != f"live/new {number}\n"
    # A directory that moves takes its results along.
    os.rename(directory, f"{mountpoint}/moved")
    live.wait("+ moved/first.note")
    live.process.terminate()
    times.sort()
    print(json.dumps({
        "median": times[len(times) // 2] * 1000, "p99": times[len(times) * 99 // 100] * 1000, "missed": missed}))


if __name__ == "__main__":
    main()
