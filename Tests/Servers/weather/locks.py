"""Locks that are granted here, without asking the server: so each front's client believes that it is alone."""
import itertools

NAMES = "/.quire/locks/"


class PrivateLocks:
    def __init__(self):
        self.numbers = itertools.count(1)
        self.held = {}

    def answer(self, request, body):
        """What to say of a lock; None where the request is about something else."""
        target = request.target
        if NAMES not in target:
            return None
        if request.method == "LOCK":
            token = self.held[target] = b"opaquelocktoken:private-%d" % next(self.numbers)
            return self.built(b"200 OK", token, b"<D:prop xmlns:D=\"DAV:\">%s</D:prop>" % self.discovery(token))
        if request.method == "UNLOCK":
            self.held.pop(target, None)
            return b"HTTP/1.1 204 No Content\r\n\r\n"
        if request.method == "PROPFIND" and b"lockdiscovery" in body:
            prop = b"<D:prop>%s</D:prop>" % self.discovery(self.held.get(target))
            return self.built(
                b"207 Multi-Status", None,
                b"<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>%s</D:href><D:propstat>%s<D:status>HTTP/1.1 200 OK"
                b"</D:status></D:propstat></D:response></D:multistatus>" % (target.encode(), prop))
        return None

    @staticmethod
    def discovery(token):
        lock = b"<D:activelock><D:locktoken><D:href>%s</D:href></D:locktoken></D:activelock>" % token if token else b""
        return b"<D:lockdiscovery>%s</D:lockdiscovery>" % lock

    @staticmethod
    def built(status, token, body):
        lines = [b"HTTP/1.1 " + status, b"Content-Type: application/xml", b"Content-Length: %d" % len(body)]
        if token:
            lines.append(b"Lock-Token: <%s>" % token)
        return b"\r\n".join(lines) + b"\r\n\r\n" + body
