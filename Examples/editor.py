#!/usr/bin/env python3
"""A text editor without a window: presents one document of the drive, in 60 lines and without a library.

    editor.py HOME MOUNTPOINT DOCUMENT

Reads commands: `type TEXT` (an unsaved edit), `show`, `quit`. Prints what the daemon calls. What is typed and not saved
is what `cat MOUNTPOINT/DOCUMENT` prints, as opening the file asks this editor to save first; what others write is shown.
"""
import json, pathlib, socket, sys, threading

home, mountpoint, document = sys.argv[1:4]
path = pathlib.Path(mountpoint, document)
text, unsaved = path.read_text(), False
lock = threading.Lock()
connection = socket.socket(socket.AF_UNIX)
connection.connect(f"{home}/daemon.sock")


def send(message):
    connection.sendall((json.dumps(dict(message, jsonrpc="2.0")) + "\n").encode())


def called(call):
    """One call of the daemon. Returns the answer's result."""
    global text, unsaved, path
    with lock:
        # A print is several writes: two threads at once would mix their lines.
        print(call["callback"], call.get("path", ""), flush=True)
        if call["callback"] == "saveChanges" and unsaved:
            # Plain access of a process that is being asked goes ahead of whoever asks.
            path.write_text(text)
            unsaved = False
        elif call["callback"] == "didChange" and not unsaved:
            text = path.read_text()
        elif call["callback"] == "didMove":
            path = pathlib.Path(mountpoint, call["path"])
    return {"reacquires": True} if call["callback"].startswith("relinquish") else {}


def listen():
    for line in connection.makefile():
        message = json.loads(line)
        if message.get("method") == "presenter.call":
            send({"id": message["id"], "result": called(message["params"])})
        elif "error" in message:
            with lock:
                print("error", message["error"]["message"], flush=True)


threading.Thread(target=listen, daemon=True).start()
send({"id": 1, "method": "presenter.add", "params": {"path": document}})
for command in sys.stdin:
    verb, _, rest = command.rstrip("\n").partition(" ")
    with lock:
        if verb == "type":
            text, unsaved = text + rest + "\n", True
        elif verb == "show":
            print("text", json.dumps(text), flush=True)
    if verb == "quit":
        break
