"""The table's form: a row is one call in one situation, with the error or effect that the standard and the manual name.

A row is a function; its keyword parameters make it many:

    @row("chmod", "{kind} that is not there", kind=KINDS)
    def missing(at, kind): ...

What it is given first is a `Place` of its own. A row that is a generator lets the clock tick at each `yield`: all rows
of a file are arranged first, then time passes once for all of them.
"""
import errno
import inspect
import itertools
import os
import signal
import time

from place import Place

TICK_SECONDS = 0.03     # more than the coarsest kernel clock, 10 ms
LIMIT_SECONDS = 20      # for one step of a row: a call that takes longer hangs

# Numbers with two names, of which Python knows the other better.
NAMES = {errno.EOPNOTSUPP: "EOPNOTSUPP", errno.EDEADLK: "EDEADLK", errno.EAGAIN: "EAGAIN"}

rows = []
checks = 0      # how often a row compared what it got with what it wanted


class Failed(Exception):
    """A row's expectation was not met."""


class Differs(Exception):
    """What a mount does otherwise, for a reason that is documented; on a bare file system a failure."""


class NotHere(Exception):
    """A row that this user or file system cannot run, with the reason."""


class Row:
    def __init__(self, family, name, function, parameters):
        self.family, self.name, self.function, self.parameters = family, name, function, parameters


def row(call, situation, /, when=None, **choices):
    """Registers a function as one row for each combination of `choices` for which `when` holds."""
    def register(function):
        for values in itertools.product(*choices.values()):
            parameters = dict(zip(choices, values))
            if when is None or when(**parameters):
                name = f"{call}: {situation.format(**parameters)}"
                rows.append(Row(function.__module__, name, function, parameters))
        return function
    return register


def expect(got, wanted, what="result"):
    """`wanted` may be a set: any of its members will do."""
    global checks
    checks += 1
    if got != wanted and not (isinstance(wanted, (set, frozenset)) and got in wanted):
        raise Failed(f"{what}: expected {shown(wanted)}, got {shown(got)}")


def shown(value):
    return " or ".join(sorted(map(str, value))) if isinstance(value, (set, frozenset)) else str(value)


def answer(call, *arguments, **options):
    """"OK", or the name of the error that the call fails with."""
    try:
        call(*arguments, **options)
        return "OK"
    except OSError as error:
        return error_name(error)


def error_name(error):
    return NAMES.get(error.errno) or errno.errorcode.get(error.errno, str(error.errno))


def fails(wanted, call, *arguments, **options):
    """Expects the call to fail with `wanted`, an errno's name or a set of them."""
    expect(answer(call, *arguments, **options), wanted, getattr(call, "__name__", "call"))


def works(call, *arguments, **options):
    """The call's result; the row fails when it fails."""
    global checks
    checks += 1
    try:
        return call(*arguments, **options)
    except OSError as error:
        name = getattr(call, "__name__", "call")
        raise Failed(f"{name}: expected OK, got {error_name(error)}") from None


def forked(action):
    """Runs an action in a child, which never comes back here, and returns the child's process id."""
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(LIMIT_SECONDS)
            action()
        finally:
            os._exit(0)
    return child


class Run:
    """A row being run: its place and where it has come to."""

    def __init__(self, chosen, path):
        self.row, self.path, self.place, self.steps = chosen, path, None, None
        self.failure = self.difference = self.skipped = None

    def start(self):
        self.place = Place(self.path)
        started = self.row.function(self.place, **self.row.parameters)
        if inspect.isgenerator(started):
            self.steps = started
            self.advance()

    def advance(self):
        try:
            next(self.steps)
        except StopIteration:
            self.steps = None

    def step(self, action):
        """Runs `action` within the time limit and keeps what came of it."""
        signal.alarm(LIMIT_SECONDS)
        try:
            action()
        except NotHere as reason:
            self.steps, self.skipped = None, str(reason)
        except Differs as reason:
            self.steps, self.difference = None, str(reason)
        except (Failed, TimeoutError) as failure:
            self.steps, self.failure = None, str(failure)
        except Exception as failure:    # an arrangement that failed is a failed row
            self.steps, self.failure = None, f"{type(failure).__name__}: {failure}"
        finally:
            signal.alarm(0)
            if self.steps is None and self.place:
                self.place.close()


def run_family(chosen, directory):
    """Runs the rows of one file. Returns the runs."""
    def overdue(*_):
        raise TimeoutError(f"no answer in {LIMIT_SECONDS} s")

    signal.signal(signal.SIGALRM, overdue)
    runs = [Run(one, f"{directory}/{number}") for number, one in enumerate(chosen)]
    for run in runs:
        run.step(run.start)
    while waiting := [run for run in runs if run.steps]:
        time.sleep(TICK_SECONDS)
        for run in waiting:
            run.step(run.advance)
    return runs
