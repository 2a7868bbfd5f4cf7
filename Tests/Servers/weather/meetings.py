"""Requests of several fronts for one target, one after the other, each sent before the other was answered."""
import asyncio
import contextlib


class Meeting:
    def __init__(self, front):
        self.front = front
        self.met = asyncio.Event()
        self.answered = asyncio.Event()


class Meetings:
    """One for all fronts."""

    def __init__(self):
        self.waiting = {}

    @contextlib.asynccontextmanager
    async def meeting(self, front, target, seconds):
        """The first waits at most so long for another front's; that goes as long after the first was answered."""
        first = self.waiting.get(target)
        if first is not None and first.front is not front:
            del self.waiting[target]
            first.met.set()
            await first.answered.wait()
            await asyncio.sleep(seconds)
            yield
            return
        here = self.waiting[target] = Meeting(front)
        try:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(here.met.wait(), seconds)
            if self.waiting.get(target) is here:
                del self.waiting[target]
            yield
        finally:
            here.answered.set()
