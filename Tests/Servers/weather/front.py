"""One way to a server: a port of its own, with rules of its own."""
import asyncio
import contextlib
import os
import socket
import struct
import time

import answers
from faults import Rules
from locks import PrivateLocks
from message import Gone, Head, content, has_body, pieces

CONDITIONS = (b"if-match", b"if-none-match", b"if")
PLACES = (b"destination", b"x-amz-copy-source")
LOG = open(os.environ["QUIRE_WEATHER_LOG"], "a") if "QUIRE_WEATHER_LOG" in os.environ else None


class End(Exception):
    """The connection is over, as a rule wants it."""


class Front:
    def __init__(self, host, port, seed, meetings):
        self.server = (host, port)
        self.meetings = meetings
        self.rules = Rules(seed)
        self.locks = PrivateLocks()
        self.requests = 0
        self.connections = 0
        self.silent = 0
        self.open = set()
        self.listener = None
        self.port = 0

    async def up(self):
        """Listens, on the same port as before."""
        if self.listener is None:
            self.listener = await asyncio.start_server(self.serve, "127.0.0.1", self.port, limit=1 << 20, reuse_address=True)
            self.port = self.listener.sockets[0].getsockname()[1]

    async def down(self):
        """Refuses connections, and ends those there are."""
        if self.listener is not None:
            self.listener.close()
            self.listener = None
        self.cut()

    def cut(self):
        for writer in list(self.open):
            reset(writer)

    async def serve(self, reader, writer):
        self.connections += 1
        self.open.add(writer)
        connection = Connection(self, reader, writer)
        try:
            await connection.run()
        except (Gone, End, OSError, asyncio.CancelledError):
            pass
        finally:
            self.open.discard(writer)
            connection.close()


class Connection:
    def __init__(self, front, reader, writer):
        self.front = front
        self.reader = reader
        self.writer = writer
        self.upstream = None

    async def run(self):
        while (request := await Head.read(self.reader)) is not None:
            self.front.requests += 1
            chosen = self.front.rules.decide(request)
            self.log("asked", request, [rule["fault"] for rule in chosen])
            through = {rule["fault"]: rule for rule in chosen}
            async with self.meeting(request, through.get("meet")):
                await self.exchange(request, through, chosen[-1] if chosen else {})
            if request.closes:
                return

    def meeting(self, request, rule):
        if rule is None:
            return contextlib.nullcontext()
        return self.front.meetings.meeting(self.front, request.target, rule.get("seconds", 1))

    async def exchange(self, request, through, rule):
        fault = rule.get("fault")
        if "delay" in through:
            await asyncio.sleep(through["delay"].get("seconds", 0.2))
        if fault == "silence":
            await self.silence()
        if fault == "reset-request":
            self.reset()
        if fault in ("status", "endless"):
            await content(request, self.reader)
            if fault == "endless":
                await answers.endless(request, self.send)
                raise End
            return await self.send(answers.made(rule))
        if "strip" in through:
            for name in CONDITIONS:
                request.put(name, None)
        if "private-locks" in through and await self.locked(request):
            return
        await self.ask(request, fault)
        await self.answer(request, through, rule)

    def log(self, word, request, what):
        """Into the file that QUIRE_WEATHER_LOG names, for who looks for what happened."""
        if LOG is None:
            return
        fields = {name.decode(): str(request[name]) for name in CONDITIONS + PLACES if request[name]}
        print(f"{time.time():.3f}", self.front.port, word, request.method, request.target, fields, what, file=LOG, flush=True)

    async def locked(self, request):
        if request.method not in ("LOCK", "UNLOCK", "PROPFIND") or "/.quire/locks/" not in request.target:
            return False
        body = await content(request, self.reader)
        answer = self.front.locks.answer(request, body)
        if answer is None:
            await self.pass_on(request, body)
            await self.answer(request, {}, {})
        else:
            await self.send(answer)
        return True

    async def ask(self, request, fault):
        """Passes the request on; if that is wanted, with another byte in its body, or half of that, and then no more."""
        half, flips = fault in ("reset-body", "silent-body"), fault == "flip-body"
        length = int(request[b"content-length"] or 0)
        await self.connect()
        self.upstream[1].write(request.encoded())
        sent = 0
        async for wire, data in pieces(request, self.reader):
            if half and sent + len(data) > length // 2:
                self.upstream[1].write(wire[:max(0, length // 2 - sent)])
                await self.upstream[1].drain()
                await self.stop(fault)
            sent += len(data)
            if flips and data and wire == data:
                wire, flips = wire[:-1] + bytes([wire[-1] ^ 1]), False
            self.upstream[1].write(wire)
            await self.upstream[1].drain()
        await self.upstream[1].drain()
        if half:
            await self.stop(fault)

    async def pass_on(self, request, body):
        await self.connect()
        self.upstream[1].write(request.encoded() + body)
        await self.upstream[1].drain()

    async def answer(self, request, through, rule):
        fault = rule.get("fault")
        head = await Head.read(self.upstream[0])
        while head is not None and head.status < 200:
            head = await Head.read(self.upstream[0])
        if head is None:
            raise Gone
        closes = head.closes
        self.log("answered", request, [head.status, head[b"etag"]])
        if "date" in through:
            head.put(b"date", answers.date(through["date"].get("seconds", 3600)))
        has = has_body(head, request.method)
        until_close = has and head[b"content-length"] is None and head[b"transfer-encoding"] is None
        if fault in ("reset-answer", "silent-answer", "lost", "etag", "flip", "garbage"):
            await self.changed(request, head, rule, has, until_close)
        else:
            await self.stream(head, fault, has, until_close)
        if closes or until_close:
            raise End

    async def changed(self, request, head, rule, has, until_close):
        body = await content(head, self.upstream[0], until_close) if has else b""
        if rule["fault"] in ("reset-answer", "silent-answer"):
            await self.stop(rule["fault"])
        if rule["fault"] == "lost":
            return await self.send(answers.made(rule))
        if has:
            body = answers.changed(rule, head, body, self.front.rules.chance)
            head.put(b"transfer-encoding", None)
            head.put(b"content-length", b"%d" % len(body))
        elif rule["fault"] == "etag":
            answers.changed(rule, head, b"", self.front.rules.chance)
        await self.send(head.encoded() + body)

    async def stream(self, head, fault, has, until_close):
        breaks = fault in ("cut-answer", "short-answer")
        length = int(head[b"content-length"] or 0)
        await self.send(head.encoded())
        sent = 0
        async for wire, data in pieces(head, self.upstream[0], until_close) if has else nothing():
            if breaks and sent + len(data) > length // 2:
                await self.send(wire[:max(0, length // 2 - sent) or len(wire) // 2])
                break
            sent += len(data)
            await self.send(wire)
        if fault == "cut-answer":
            self.reset()
        if fault == "short-answer":
            raise End

    async def connect(self):
        if self.upstream is not None and self.upstream[0].at_eof():
            self.upstream[1].close()
            self.upstream = None
        if self.upstream is None:
            self.upstream = await asyncio.open_connection(*self.front.server, limit=1 << 20)

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def stop(self, fault):
        if fault.startswith("silent"):
            await self.silence()
        self.reset()

    async def silence(self):
        """Until the other end has had enough."""
        self.front.silent += 1
        await self.reader.read(-1)
        raise End

    def reset(self):
        """Ends both connections at once, and this exchange with them."""
        if self.upstream is not None:
            reset(self.upstream[1])
        reset(self.writer)
        raise End

    def close(self):
        self.writer.close()
        if self.upstream is not None:
            self.upstream[1].close()


def reset(writer):
    """RST instead of FIN: what was not read yet is lost to the other end."""
    connection = writer.get_extra_info("socket")
    if connection is not None:
        try:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
    writer.transport.abort()


async def nothing():
    for piece in ():
        yield piece
