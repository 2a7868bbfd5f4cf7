"""Makes every kind of change in a directory and prints the errno of each, `ok` where it went well.

usage: store_errors.py DIRECTORY SIGNAL
DIRECTORY holds the files `kept` (some content), `gone` and `moved`, and the empty directory `hollow`. `kept` is opened first, then
the file SIGNAL.open is made; the changes begin when there is a file SIGNAL.go.
"""
import errno, os, sys, time

os.chdir(sys.argv[1])
held = os.open("kept", os.O_RDWR)
open(sys.argv[2] + ".open", "w").close()
while not os.path.exists(sys.argv[2] + ".go"):
    time.sleep(0.02)


def told(name, change):
    try:
        change()
        print(name, "ok")
    except OSError as error:
        print(name, errno.errorcode[error.errno])


def made():
    os.close(os.open("made", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))


def written():
    file = os.open("kept", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, b"x" * (1 << 20))
        os.fsync(file)
    finally:
        os.close(file)


def synced():
    os.pwrite(held, b"held", 0)
    os.fsync(held)


told("create", made)
told("mkdir", lambda: os.mkdir("made.d"))
told("symlink", lambda: os.symlink("kept", "made.link"))
told("link", lambda: os.link("kept", "made.hard"))
told("mkfifo", lambda: os.mkfifo("made.fifo"))
told("rename", lambda: os.rename("moved", "moved.2"))
told("unlink", lambda: os.unlink("gone"))
told("rmdir", lambda: os.rmdir("hollow"))
told("write", written)
told("held write", synced)
told("truncate", lambda: os.truncate("kept", 1 << 24))
told("fallocate", lambda: os.posix_fallocate(held, 0, 1 << 25))
told("chmod", lambda: os.chmod("kept", 0o600))
told("utimens", lambda: os.utime("kept", (1, 1)))
told("setxattr", lambda: os.setxattr("kept", "user.test", b"v" * 3000))
told("read", lambda: open("kept", "rb").read(10))
told("list", lambda: os.listdir("."))
told("stat", lambda: os.stat("kept"))
