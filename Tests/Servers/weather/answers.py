"""Answers that no server gave, and answers that are changed on their way."""
import datetime
import email.utils
import re

from message import Head

# So that an answer's length is the trouble, not the number of what is in it.
FILLER = b"x" * (1 << 17)
LISTING = {
    "PROPFIND": (
        b"HTTP/1.1 207 Multi-Status", b'<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">',
        b"<D:response><D:href>%s/made-up-%d</D:href><D:propstat><D:prop><D:resourcetype/><D:displayname>" + FILLER +
        b"</D:displayname><D:getcontentlength>1</D:getcontentlength><D:getetag>\"%d\"</D:getetag></D:prop>"
        b"<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"),
    "GET": (
        b"HTTP/1.1 200 OK", b'<?xml version="1.0"?><ListBucketResult>',
        b"<Contents><Key>%smade-up-%d</Key><Size>1</Size><Owner>" + FILLER + b"</Owner><ETag>%d</ETag></Contents>"),
}
GARBAGE = [
    b"<html><body>Please log in to the network of this hotel</body></html>", b"<?xml version=\"1.0\"?><a><b></a>",
    b"\x00\xff\xfe not text \x80", b"",
]


def made(rule):
    """An answer with a status of its own."""
    status = rule.get("status", 500)
    fields = [(b"Content-Type", b"text/plain"), (b"Content-Length", b"12")]
    if "retry_after" in rule:
        fields.append((b"Retry-After", str(rule["retry_after"]).encode()))
    if status == 401:
        fields.append((b"WWW-Authenticate", b'Basic realm="weather"'))
    fields.append((b"Date", date(rule.get("seconds", 0))))
    return Head(b"HTTP/1.1 %d Weather" % status, fields).encoded() + b"bad weather\n"


def date(seconds):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return email.utils.format_datetime(moment, usegmt=True).encode()


def changed(rule, head, body, chance):
    """The body of an answer after a fault that needs all of it; the head is changed in place."""
    if rule["fault"] == "garbage":
        return chance.choice(GARBAGE)
    if rule["fault"] == "flip" and body:
        at = chance.randrange(len(body))
        return body[:at] + bytes([body[at] ^ 1 << chance.randrange(8)]) + body[at + 1:]
    if rule["fault"] == "etag":
        tag = head[b"etag"]
        if tag is not None:
            head.put(b"etag", other(tag))
        return re.sub(rb"(<[^>]*etag>)([^<]*)(<)", lambda found: found[1] + other(found[2]) + found[3], body, flags=re.I)
    return body


def other(tag):
    """A tag of the same form, with its last hexadecimal digits turned around."""
    return re.sub(rb"[0-9a-f]{4,}", lambda found: found[0][::-1], tag)


async def endless(request, send, most=10 << 30):
    """A listing that goes on until the client has had enough, or for so many bytes."""
    start, opening, entry = LISTING.get(request.method, LISTING["GET"])
    base = request.target.split("?")[0].rstrip("/").encode() if request.method == "PROPFIND" else b""
    await send(Head(start, [(b"Content-Type", b"application/xml"), (b"Transfer-Encoding", b"chunked")]).encoded())
    sent, number, block = 0, 0, opening
    while sent < most:
        while len(block) < 1 << 16:
            number += 1
            block += entry % (base, number, number)
        await send(b"%x\r\n%s\r\n" % (len(block), block))
        sent, block = sent + len(block), b""
