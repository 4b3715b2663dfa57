"""Ask the servers of engines over HTTP. Carried as text.

An endpoint is a URL, a path of its own included (llama.cpp's `--api-prefix`), or `unix://` and a path of a socket.
No key is sent: an engine that asks for one says so, and nothing more. No proxy either.
"""

import http.client
import json
import socket
import urllib.parse

LIMIT_BYTES = 8 * 2**20
SECONDS = 5


class Local(http.client.HTTPConnection):
    """A connection to a socket of this host."""

    def __init__(self, path):
        super().__init__("localhost", timeout=SECONDS)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def connected(parts):
    if parts.scheme == "unix":
        return Local(parts.path)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return connect(parts.hostname, parts.port, timeout=SECONDS)


def asked(endpoint, path):
    """The status and body of a GET; {"error": why} where there is no answer."""
    parts = urllib.parse.urlsplit(endpoint)
    return got(parts, path if parts.scheme == "unix" else parts.path.rstrip("/") + path)


def got(parts, path, redirects=1):
    try:
        connection = connected(parts)
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        body = answer.read(LIMIT_BYTES + 1)
        connection.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        return {"error": plain(error)}
    if answer.status in (301, 302, 307, 308) and redirects:
        here = "http://localhost" if parts.scheme == "unix" else f"{parts.scheme}://{parts.netloc}"
        there = urllib.parse.urljoin(here + path, answer.getheader("Location", ""))
        if there.startswith(f"{here}/"):
            return got(parts, urllib.parse.urlsplit(there).path, redirects - 1)
    if len(body) > LIMIT_BYTES:
        return {"error": f"expected at most {LIMIT_BYTES} bytes, found more"}
    return {"status": answer.status, "body": body.decode("utf-8", "replace")}


def plain(error):
    if isinstance(error, TimeoutError):
        return f"no answer in {SECONDS} s"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text.splitlines()[0][:200].lower()


def said(endpoint, picks):
    """What a server says on each path, picked from its answer; when the first gives no answer, none is asked more."""
    if endpoint is None:
        return {path: {"error": "it does not listen yet"} for path in picks}
    found = {}
    for path, pick in picks.items():
        answer = asked(endpoint, path)
        if "error" in answer and not found:
            return {each: {"error": answer["error"]} for each in picks}
        found[path] = picked(answer, pick)
    return found


def joined(answers, together):
    """What several said on one path as one answer; the first that gave no value speaks for all."""
    without = [each for each in answers if "value" not in each]
    return without[0] if without else {"status": 200, "value": together([each["value"] for each in answers])}


def picked(answer, pick):
    """An answer with only what `pick` takes of its body; a body is never told as it is."""
    if answer.get("status") != 200:
        return {key: answer[key] for key in ("status", "error") if key in answer}
    try:
        return {"status": 200, "value": pick(answer["body"])}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"error": "expected another shape, found status 200 with other words"}


def field(*names):
    """A pick of one value of a JSON object, at any depth."""

    def pick(body):
        found = json.loads(body)
        for name in names:
            found = found[name]
        return found

    return pick
