"""Give one model of this host's store to one other host: over HTTP, at one address, for one token, for a while.

Run in a unit of its own, as the user that owns the store, which it only reads. It ends when the other side has it all,
when nothing has gone for a while, and with the time of its unit. Arguments: the path of a JSON file.
"""

import hashlib
import hmac
import http.server
import json
import os
import re
import sys
import threading
import time

PIECE = 64 * 2**20
"""What goes between two looks at the clock: a tenth of a second at 6 Gb/s."""
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Offer:
    """The manifest and its blobs; nothing else of the store."""

    def __init__(self, asked, token):
        self.token, self.client = token, asked["client"]
        self.manifest = read(asked["manifest"])
        if "sha256:" + hashlib.sha256(self.manifest).hexdigest() != asked["digest"]:
            sys.exit(f"expected {asked['digest']} at {asked['manifest']}, found another manifest")
        found = json.loads(self.manifest)
        layers = [found["config"], *found["layers"]]
        self.blobs = {each["digest"]: each["size"] for each in layers if DIGEST.fullmatch(each["digest"])}
        self.folder = asked["blobs"]
        self.last = time.monotonic()

    def path(self, digest):
        return os.path.join(self.folder, digest.replace(":", "-"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "sparks"
    sys_version = ""
    timeout = 60
    offer = None

    def do_GET(self):
        if not self.is_known():
            return
        digest = self.path.removeprefix("/blobs/")
        if self.path == "/manifest":
            self.answer(200, len(self.offer.manifest))
            self.wfile.write(self.offer.manifest)
        elif digest in self.offer.blobs:
            self.blob(digest)
        else:
            self.answer(404, 0)

    def do_POST(self):
        """It has all of it: nobody else shall ask."""
        if self.is_known():
            self.answer(204, 0)
            threading.Thread(target=self.server.shutdown).start()

    def is_known(self):
        """The one host that shall have it, with the token that it was told over SSH."""
        self.offer.last = time.monotonic()
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        known = self.client_address[0] == self.offer.client
        if known and hmac.compare_digest(given.encode(), self.offer.token.encode()):
            return True
        self.close_connection = True
        self.answer(403, 0)
        return False

    def blob(self, digest):
        size, start = self.offer.blobs[digest], self.start()
        if not os.path.exists(self.offer.path(digest)):
            self.answer(410, 0)
            return
        with open(self.offer.path(digest), "rb") as file:
            self.answer(206 if start else 200, max(size - start, 0))
            while start < size:
                sent = self.connection.sendfile(file, start, min(PIECE, size - start))
                if not sent:
                    self.close_connection = True
                    return
                start += sent
                self.offer.last = time.monotonic()

    def start(self):
        match = re.fullmatch(r"bytes=(\d{1,18})-", self.headers.get("Range", ""))
        return int(match[1]) if match else 0

    def answer(self, status, length):
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format, *args):
        """The journal need not know each blob."""


def ends_when_idle(server, offer, seconds):
    while time.monotonic() < offer.last + seconds:
        time.sleep(1)
    server.shutdown()


def main(path):
    asked = json.loads(read(path))
    with open(os.path.join(os.environ["CREDENTIALS_DIRECTORY"], "token"), encoding="ascii") as file:
        Handler.offer = Offer(asked, file.read().strip())
    server = http.server.ThreadingHTTPServer((asked["address"], 0), Handler)
    server.daemon_threads = True
    beside = asked["ready"] + ".new"
    with open(beside, "w", encoding="ascii") as file:
        file.write(str(server.server_port))
    os.rename(beside, asked["ready"])
    threading.Thread(target=ends_when_idle, args=(server, Handler.offer, asked["idle"]), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
