"""Copy one model from another host's offer into this host's store, by digest; a failure is one line on stderr.

What comes is kept aside until its sha256 is what the manifest says, and the manifest's what was pinned. The manifest is
written last: until then Ollama does not know the model. Port and token come on standard input.
"""

import hashlib
import http.client
import json
import os
import re
import sys
import time
import types

ATTEMPTS = 5
PAUSE_SECONDS = 3
"""Before a copy that broke off goes on."""
SILENT_SECONDS = 60
PIECE = 2**20
LIMIT_BYTES = 4 * 2**20
"""Of a manifest; one of hundreds of layers has 100 kB."""
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Failed(Exception):
    """Why it did not happen, in one line."""


class Broken(Exception):
    """The connection ended; it may go on."""


class Offer:
    """The other side."""

    def __init__(self, asked, given):
        self.address, self.own = asked["address"], asked["client"]
        self.port, self.token = given["port"], given["token"]

    def ask(self, path, method="GET", start=0):
        headers = {"Authorization": f"Bearer {self.token}"} | ({"Range": f"bytes={start}-"} if start else {})
        try:
            connection = http.client.HTTPConnection(
                self.address, self.port, timeout=SILENT_SECONDS, source_address=(self.own, 0)
            )
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise Broken(
                str(getattr(error, "strerror", None) or error or type(error).__name__)[:200].lower()
            ) from error
        if answer.status not in (200, 204, 206):
            raise Failed(f"{self.address} {path}: status {answer.status}")
        return answer


def manifest(offer, asked):
    body = offer.ask("/manifest").read(LIMIT_BYTES)
    found = "sha256:" + hashlib.sha256(body).hexdigest()
    if found != asked["digest"]:
        raise Failed(f"expected manifest {asked['digest']}, found {found}; nothing was taken")
    try:
        content = json.loads(body)
        layers = {each["digest"]: each["size"] for each in [content["config"], *content["layers"]]}
    except (ValueError, KeyError, TypeError) as error:
        raise Failed("expected a manifest, found none") from error
    if not all(DIGEST.fullmatch(str(each)) for each in layers):
        raise Failed("expected sha256 digests in the manifest, found others")
    return body, layers


class Copy:
    """One model on its way; `blobs` is the text of `ollama_blobs.py`, loaded."""

    def __init__(self, asked, offer, store, blobs):
        self.asked, self.offer, self.store, self.blobs = asked, offer, store, blobs
        self.total, self.done, self.shown = 0, 0, None

    def whole(self):
        body, layers = self.again(lambda: manifest(self.offer, self.asked))
        self.total = sum(layers.values())
        self.room(layers)
        for digest, size in sorted(layers.items(), key=lambda each: each[1]):
            self.again(lambda digest=digest, size=size: self.layer(digest, size))
        for digest, size in layers.items():
            if os.path.getsize(self.store.blob(digest)) != size:
                raise Failed(f"{digest}: expected {size:,} bytes in the store, found another size")
        return body

    def again(self, act):
        for attempt in range(ATTEMPTS):
            try:
                return act()
            except Broken as error:
                print(f"the copy broke off ({error}); going on ({attempt + 1} of {ATTEMPTS})", flush=True)
                time.sleep(PAUSE_SECONDS)
        raise Failed(f"expected the copy to end, found it broken off {ATTEMPTS} times; run again to go on")

    def room(self, layers):
        there = (self.store.blob(each) for each in layers)
        missing = self.total - sum(os.path.getsize(each) for each in there if os.path.exists(each))
        found = os.statvfs(self.store.root)
        if missing > found.f_bavail * found.f_frsize:
            raise Failed(f"expected room for {missing:,} bytes in {self.store.root}, found less")

    def layer(self, digest, size):
        """In the store already, or now; its bytes are hashed in either case."""
        path, part = self.store.blob(digest), self.store.part(digest)
        if os.path.exists(path):
            if "sha256:" + self.blobs.hashed(path).hexdigest() == digest:
                self.go(size)
                return
            raise Failed(f"{path}: expected its own digest, found another; remove it and run again")
        self.receive(digest, size, part)
        self.store.put(part, path)

    def receive(self, digest, size, part):
        found = self.blobs.hashed(part)
        have = os.path.getsize(part) if os.path.exists(part) else 0
        before = self.done
        with open(part, "ab") as file:
            if have < size:
                self.go(have)
                answer = self.offer.ask(f"/blobs/{digest}", start=have)
                try:
                    self.pour(answer, file, found, size - have)
                except Broken:
                    self.done = before
                    raise
            file.flush()
            os.fsync(file.fileno())
        if "sha256:" + found.hexdigest() != digest:
            os.unlink(part)
            raise Failed(f"expected {digest}, found sha256:{found.hexdigest()}; it was thrown away")

    def pour(self, answer, file, found, left):
        try:
            while left and (piece := answer.read(min(PIECE, left))):
                file.write(piece)
                found.update(piece)
                left -= len(piece)
                self.go(len(piece))
        except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
            raise Broken(type(error).__name__) from error
        if left:
            raise Broken("it ended early")

    def go(self, count):
        self.done += count
        tenth = 10 * self.done // max(self.total, 1)
        if tenth != self.shown:
            print(f"copied {tenth}0% of {self.total:,} bytes", flush=True)
            self.shown = tenth


def unload(asked):
    """What is loaded of the model that goes, while the tag still leads to it."""
    ask = {}
    exec(asked["ask"], ask)
    try:
        ask["unload"](asked)
    except ask["Failed"] as error:
        raise Failed(str(error)) from error


def main(text):
    asked, given = json.loads(text), json.loads(sys.stdin.readline())
    blobs = types.ModuleType("blobs")
    exec(asked["blobs"], blobs.__dict__)
    try:
        offer, store = Offer(asked, given), blobs.Store(asked["directory"])
        body = Copy(asked, offer, store, blobs).whole()
        if asked["replaces"] is not None:
            unload(asked)
        store.write_manifest(asked["model"], body)
        offer.ask("/done", method="POST")
    except Broken:
        pass
    except (Failed, blobs.Failed) as error:
        sys.exit(f"copy {asked['model']}: {error}")
    except OSError as error:
        sys.exit(f"copy {asked['model']}: {error.filename or 'store'}: {error.strerror}")
