"""Bad weather between programs and a server: an HTTP/1.1 proxy on loopback that does harm on request.

usage: python3 weather [--seed N]

Commands are JSON objects, one a line, on standard input; each is answered by one line. Requests are passed on as they are,
the Host field too: a drive's URL names the front, and signatures hold. It ends with its input.

    {"open": NAME, "to": "HOST:PORT"}   a front → {"port": N}
    {"set": NAME, "rules": […]}         its rules from now on (faults.py); none: good weather
    {"down": NAME}  {"up": NAME}        connections are refused, or taken again
    {"cut": NAME}                       its connections are reset
    {"count": NAME}                     → {"requests": N, "connections": N, "silent": N, "faults": {NAME: N}}
"""
import asyncio
import json
import sys

from front import Front
from meetings import Meetings


VERBS = ("open", "set", "count", "up", "down", "cut")


class Weather:
    def __init__(self, seed):
        self.seed = seed
        self.fronts = {}
        self.meetings = Meetings()

    async def obey(self, command):
        verb = next(verb for verb in VERBS if verb in command)
        name = command[verb]
        if verb == "open":
            host, port = command["to"].rsplit(":", 1)
            front = self.fronts[name] = Front(host, int(port), f"{self.seed} {name}", self.meetings)
            await front.up()
            return {"port": front.port}
        front = self.fronts[name]
        if verb == "set":
            front.rules.set(command["rules"])
        elif verb == "count":
            return {
                "requests": front.requests, "connections": front.connections, "silent": front.silent,
                "faults": dict(front.rules.counts)}
        elif verb in ("up", "down"):
            await getattr(front, verb)()
        else:
            front.cut()
        return {}


async def main():
    seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 0
    weather = Weather(seed)
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        try:
            answer = await weather.obey(json.loads(line))
        except (KeyError, StopIteration, ValueError, OSError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
