"""HTTP/1.1 messages as they are on the wire (RFC 9112): heads, and bodies piece by piece."""
import asyncio

PIECE = 1 << 16


class Gone(Exception):
    """The other end closed the connection, or said what is no HTTP."""


class Head:
    """A start line and fields, kept byte for byte: signatures cover them."""

    def __init__(self, start, fields):
        self.start = start
        self.fields = fields

    @classmethod
    async def read(cls, reader):
        """The next head; None where the connection ended before one began."""
        try:
            text = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise Gone from error
            return None
        except (OSError, asyncio.LimitOverrunError) as error:
            raise Gone from error
        lines = text[:-4].split(b"\r\n")
        fields = [tuple(line.split(b":", 1)) for line in lines[1:] if b":" in line]
        return cls(lines[0], [(name, value.strip()) for name, value in fields])

    def __getitem__(self, name):
        return next((value for field, value in self.fields if field.lower() == name), None)

    def put(self, name, value):
        """Replaces the fields of that name; None removes them."""
        self.fields = [(field, old) for field, old in self.fields if field.lower() != name]
        if value is not None:
            self.fields.append((name, value))

    @property
    def method(self):
        return self.start.split(b" ")[0].decode("latin-1")

    @property
    def target(self):
        return self.start.split(b" ")[1].decode("latin-1")

    @property
    def status(self):
        return int(self.start.split(b" ")[1])

    @property
    def closes(self):
        return (self[b"connection"] or b"").lower() == b"close"

    def encoded(self):
        return b"\r\n".join([self.start] + [name + b": " + value for name, value in self.fields]) + b"\r\n\r\n"


def has_body(answer, method):
    return method != "HEAD" and answer.status >= 200 and answer.status not in (204, 304)


async def pieces(head, reader, until_close=False):
    """The body's pieces as (bytes on the wire, content in them)."""
    try:
        if (head[b"transfer-encoding"] or b"").lower() == b"chunked":
            async for piece in chunks(reader):
                yield piece
            return
        length = head[b"content-length"]
        left = int(length) if length is not None else None
        while left != 0 and (left is not None or until_close):
            data = await reader.read(PIECE if left is None else min(PIECE, left))
            if not data:
                if left is None:
                    return
                raise Gone
            left = None if left is None else left - len(data)
            yield data, data
    except (OSError, ValueError, asyncio.IncompleteReadError) as error:
        raise Gone from error


async def chunks(reader):
    while True:
        line = await reader.readline()
        size = int(line.split(b";")[0], 16)
        data = await reader.readexactly(size + 2) if size else b""
        if size:
            yield line + data, data[:-2]
            continue
        trailer = await reader.readline()
        while trailer not in (b"\r\n", b""):
            line += trailer
            trailer = await reader.readline()
        yield line + b"\r\n", b""
        return


async def content(head, reader, until_close=False):
    """The whole body's content."""
    return b"".join([data async for _, data in pieces(head, reader, until_close)])
