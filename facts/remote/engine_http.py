"""Ask the servers of engines over HTTP. Carried as text.

An endpoint is a URL, a path of its own included (llama.cpp's `--api-prefix`), or `unix://` and a path of a socket.
No key is sent: an engine that asks for one says so, and nothing more. No proxy either.
"""

import contextlib
import http.client
import json
import socket
import threading
import time
import urllib.parse

LIMIT_BYTES = 8 * 2**20
SECONDS = 5
"""For a whole answer: one that comes byte by byte would keep the look, and with it all others, for ever."""


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
        answer, body = answered(connected(parts), path)
        again = led_to(parts, path, answer) if redirects else None
    except (OSError, http.client.HTTPException, ValueError) as error:
        return {"error": plain(error)}
    if again is not None:
        return got(parts, again, redirects - 1)
    if len(body) > LIMIT_BYTES:
        return {"error": f"expected at most {LIMIT_BYTES} bytes, found more"}
    return {"status": answer.status, "body": body.decode("utf-8", "replace")}


def answered(connection, path):
    """An answer and its body; TimeoutError where it is not whole in time."""
    until = time.monotonic() + SECONDS
    connection.connect()
    alarm = threading.Timer(max(0, until - time.monotonic()), hung_up, (connection.sock,))
    alarm.daemon = True
    alarm.start()
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        body = answer.read(LIMIT_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise TimeoutError if time.monotonic() >= until else error from None
    finally:
        alarm.cancel()
        connection.close()
    if time.monotonic() >= until:
        raise TimeoutError
    return answer, body


def hung_up(sock):
    """Whoever reads from it sees its end."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def led_to(parts, path, answer):
    """The path on the same server to which an answer leads; None where to none. ValueError for what is no address."""
    if answer.status not in (301, 302, 307, 308):
        return None
    here = "http://localhost" if parts.scheme == "unix" else f"{parts.scheme}://{parts.netloc}"
    there = urllib.parse.urljoin(here + path, answer.getheader("Location", ""))
    return urllib.parse.urlsplit(there).path if there.startswith(f"{here}/") else None


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
    """An answer with only what `pick` takes of its body; a body is never told as it is.

    Nor is what no JSON can carry further: half a character (`"\\ud800"`), or a number that is none (`NaN`).
    """
    if answer.get("status") != 200:
        return {key: answer[key] for key in ("status", "error") if key in answer}
    try:
        value = pick(answer["body"])
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        return {"status": 200, "value": value}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {"error": "expected another shape, found status 200 with other words"}


def field(*names):
    """A pick of one value of a JSON object, at any depth."""

    def pick(body):
        found = json.loads(body)
        for name in names:
            found = found[name]
        return found

    return pick
