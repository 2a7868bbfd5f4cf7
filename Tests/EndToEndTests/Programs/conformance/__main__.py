"""What each file system call has to do, tried in a directory: on the mount of a drive, or on a bare file system.

usage: conformance [--only WORD]... [--list] [--bare] [--alone] DIRECTORY
Prints a line for each row that failed or differs, and a summary. Exit code 0 when none failed, 1 when some did. Run it
as root to have all rows: others need files of several users. DIRECTORY must then be open to everybody.
"""
import argparse
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import rows     # noqa: E402
import table    # noqa: E402
import users    # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", action="append", help="rows whose name, or file, contains this word")
    parser.add_argument("--list", action="store_true", help="print the table and do nothing")
    parser.add_argument("--bare", action="store_true", help="not a mount: documented differences are failures, too")
    parser.add_argument("--alone", action="store_true", help="a mount that lets nobody in but root")
    parser.add_argument("directory")
    chosen = parser.parse_args()
    users.alone = chosen.alone
    os.umask(0)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])      # whatever the starter had blocked
    for number in (signal.SIGXFSZ, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    for module in sorted(name for _, name, _ in pkgutil.iter_modules(rows.__path__)):
        importlib.import_module(f"rows.{module}")
    wanted = [one for one in table.rows if matches(one, chosen.only)]
    if chosen.list:
        print("\n".join(one.name for one in wanted))
        return 0
    root = tempfile.mkdtemp(prefix="c-", dir=chosen.directory)
    os.chmod(root, 0o755)
    if os.geteuid() == 0 and not chosen.alone and not reachable(root):
        os.rmdir(root)
        sys.exit(f"{chosen.directory} is not open to other users: chmod a+rx it and the directories above it")
    try:
        return run(wanted, root, chosen.bare)
    finally:
        clear(root)


def reachable(directory):
    with users.STRANGER:
        return os.access(directory, os.R_OK | os.X_OK)


def matches(one, words):
    return not words or any(word in one.name or word == one.family.split(".")[1] for word in words)


def run(wanted, root, bare):
    """Runs family by family. Returns the exit code."""
    began, failed, others = time.monotonic(), 0, {}
    for family in dict.fromkeys(one.family for one in wanted):
        directory = f"{root}/{family.split('.')[1]}"
        os.mkdir(directory)
        for done in table.run_family([one for one in wanted if one.family == family], directory):
            if done.failure or done.difference and bare:
                failed += 1
                print(f"FAILED {done.row.name}: {done.failure or done.difference}", flush=True)
            elif done.difference:
                others["differ"] = others.get("differ", 0) + 1
                print(f"DIFFERS {done.row.name}: {done.difference}", flush=True)
            elif done.skipped:
                reason = f"not run ({done.skipped})"
                others[reason] = others.get(reason, 0) + 1
        clear(directory)
    passed = len(wanted) - failed - sum(others.values())
    rest = "".join(f", {count} {what}" for what, count in sorted(others.items()))
    spent = time.monotonic() - began
    print(f"{passed} rows passed, {failed} failed{rest}; {table.checks} checks in {spent:.1f} s")
    return 1 if failed else 0


def clear(directory):
    if os.geteuid() != 0:
        subprocess.run(["chmod", "-R", "u+rwX", directory], check=False, stderr=subprocess.DEVNULL)
    subprocess.run(["rm", "-rf", "--one-file-system", directory], check=True)


if __name__ == "__main__":
    sys.exit(main())
