"""Prints what a directory, or an account at a server, holds: a line for each document and directory, in order.

usage: account_tree.py DIRECTORY
       account_tree.py s3+http://USER@HOST:PORT/BUCKET  or  webdav+http://USER@HOST:PORT/PATH

A document's line is its SHA-256 and path, a directory's a dash and its path. What is Quire's own is left out. Two places
hold the same exactly when the lines are. The account is asked by this program's own means; its secret is in QUIRE_SECRET.
"""
import base64
import datetime
import hashlib
import hmac
import http.client
import os
import sys
import urllib.parse
import xml.etree.ElementTree as xml

# What is in the places of directories that were removed, and made again, at stores that keep keys as a tree of files.
VACANCY, DIRECTORY = (
    hashlib.md5(f"Quire {word} 5f0d1e6a9c3b47d28e1fa4b60c7d9352\n".encode()).hexdigest()
    for word in ("vacancy", "directory"))


def directory_lines(root):
    for directory, below, files in os.walk(os.fsencode(root)):
        relative = os.path.relpath(directory, os.fsencode(root))
        for name in below:
            yield "-", os.fsdecode(os.path.normpath(os.path.join(relative, name)))
        for name in files:
            with open(os.path.join(directory, name), "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            yield digest, os.fsdecode(os.path.normpath(os.path.join(relative, name)))


class Server:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.user, self.secret = parts.username, os.environ["QUIRE_SECRET"]
        self.host = parts.netloc.split("@")[1]
        self.base = parts.path.rstrip("/")
        self.connection = http.client.HTTPConnection(self.host, timeout=60)

    def ask(self, method, path, query="", body=b"", fields={}):
        target = urllib.parse.quote(path) + (f"?{query}" if query else "")
        proof = self.proof(method, urllib.parse.quote(path), query, body)
        self.connection.request(method, target, body, {**proof, **fields})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status not in (200, 207):
            raise SystemExit(f"{method} {path}: {answer.status} {content[:300]}")
        return content

    def lines(self):
        directories = set()
        for path, is_directory in self.entries():
            if path == ".quire" or path.startswith(".quire/") or not path:
                continue
            if is_directory:
                directories.add(path)
            else:
                yield hashlib.sha256(self.ask("GET", f"{self.base}/{path}")).hexdigest(), path
            while "/" in path:
                path = path.rsplit("/", 1)[0]
                directories.add(path)
        for path in directories:
            yield "-", path


class DAV(Server):
    def proof(self, *_):
        return {"Authorization": "Basic " + base64.b64encode(f"{self.user}:{self.secret}".encode()).decode()}

    def entries(self):
        answer = xml.fromstring(self.ask("PROPFIND", self.base + "/", fields={"Depth": "infinity"}))
        for found in answer.iter("{DAV:}response"):
            path = urllib.parse.unquote(urllib.parse.urlsplit(found.findtext("{DAV:}href")).path)
            is_directory = found.find(".//{DAV:}resourcetype/{DAV:}collection") is not None
            yield path[len(self.base):].strip("/"), is_directory


class S3(Server):
    def proof(self, method, path, query, body):
        now = datetime.datetime.now(datetime.timezone.utc)
        stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
        digest = hashlib.sha256(body).hexdigest()
        signed = {"host": self.host, "x-amz-content-sha256": digest, "x-amz-date": stamp}
        fields = "".join(f"{name}:{value}\n" for name, value in signed.items())
        names = ";".join(signed)
        canonical = "\n".join([method, path, query, fields, names, digest])
        scope = f"{day}/us-east-1/s3/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = ("AWS4" + self.secret).encode()
        for part in (day, "us-east-1", "s3", "aws4_request", text):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        credential = f"Credential={self.user}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
        return {**signed, "Authorization": f"AWS4-HMAC-SHA256 {credential}"}

    def entries(self):
        token = None
        while True:
            query = {"list-type": "2", **({"continuation-token": token} if token else {})}
            text = urllib.parse.urlencode(sorted(query.items()), quote_via=urllib.parse.quote, safe="")
            answer = xml.fromstring(self.ask("GET", self.base, text))
            space = answer.tag.split("}")[0] + "}"
            for found in answer.iter(f"{space}Contents"):
                key, tag = found.findtext(f"{space}Key"), found.findtext(f"{space}ETag").strip('"')
                if tag != VACANCY:
                    yield key.rstrip("/"), key.endswith("/") or tag == DIRECTORY
            token = answer.findtext(f"{space}NextContinuationToken")
            if answer.findtext(f"{space}IsTruncated") != "true":
                return


def lines(place):
    if place.startswith("s3+"):
        return S3(place).lines()
    return DAV(place).lines() if place.startswith("webdav+") else directory_lines(place)


def main():
    for digest, path in sorted(set(lines(sys.argv[1])), key=lambda line: line[1]):
        print(digest, ascii(path))


main()
