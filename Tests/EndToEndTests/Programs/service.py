"""Runs `quire mount --systemd` as a service manager would and prints what it is told.

usage: service.py QUIRE HOME MOUNTPOINT
"""
import os, socket, subprocess, sys

quire, home, mountpoint = sys.argv[1:]
os.environ["QUIRE_HOME"] = home
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind("\0quire-service-%d" % os.getpid())
manager.settimeout(30)
daemon = subprocess.Popen(
    [quire, "mount", "--systemd", mountpoint], stderr=subprocess.PIPE,
    env=dict(os.environ, NOTIFY_SOCKET="@quire-service-%d" % os.getpid(), WATCHDOG_USEC="400000"))


def told():
    return manager.recv(4096).decode().split("\n")


try:
    print("daemon", daemon.pid)
    message = told()
    while "READY=1" not in message:
        assert message == ["WATCHDOG=1"], message
        message = told()
    print(message)
    # The mount answers from the moment that it is said to be ready.
    subprocess.run(["sh", "-c", 'echo hello > "$1/f"; cat "$1/f"', "sh", mountpoint], check=True, timeout=20)
    for _ in range(3):
        assert told() == ["WATCHDOG=1"]
    print("alive")
    sys.stdout.flush()
    second = subprocess.run([quire, "mount", "--systemd", mountpoint], stderr=subprocess.PIPE, timeout=20)
    print("second", second.returncode, second.stderr.decode().strip())
    subprocess.run([quire, "unmount"], check=True, timeout=20)
    while (message := told()) != ["STOPPING=1"]:
        assert message == ["WATCHDOG=1"], message
    print("exit", daemon.wait(timeout=20))
    for line in daemon.stderr.read().decode().splitlines():
        print("log", line)
finally:
    daemon.kill()
