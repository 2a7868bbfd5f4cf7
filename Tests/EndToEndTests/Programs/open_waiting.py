"""Opens and reads a document whose content is not here, while who has it does not answer.

usage: open_waiting.py fails PATH        prints the errno's name and after how many whole seconds
       open_waiting.py interrupted PATH  interrupts `cat` after a second, as Ctrl-C does; prints its signal
"""
import errno
import signal
import subprocess
import sys
import time

verb, path = sys.argv[1:]
begun = time.monotonic()
if verb == "fails":
    try:
        with open(path, "rb") as file:
            print("read", len(file.read()))
    except OSError as error:
        print(errno.errorcode[error.errno], int(time.monotonic() - begun))
else:
    program = subprocess.Popen(["cat", path], stdout=subprocess.DEVNULL)
    time.sleep(1)
    program.send_signal(signal.SIGINT)
    print(signal.Signals(-program.wait(timeout=2)).name)
