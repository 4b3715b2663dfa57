"""Find the servers of a runtime by their processes, and ask them over HTTP. Carried as text.

An endpoint is a URL, a path of its own included (llama.cpp's `--api-prefix`), or `unix://` and a path of a socket.
No key is sent: an engine that asks for one says so, and nothing more. No proxy either.
"""

import contextlib
import http.client
import ipaddress
import json
import os
import re
import socket
import urllib.parse

LIMIT_BYTES = 8 * 2**20
SECONDS = 5
ACCEPTS = 1 << 16
"""__SO_ACCEPTCON among the flags of /proc/net/unix: it takes connections (proc_pid_net(5))."""


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


def endpoints(process, default_port, look):
    """URLs at which a client on this host reaches a process, in a network of its own too.

    At the port that it was given, else at the usual one, else at any: defaults have moved between versions. One that
    has no port may have a socket.
    """
    places = [spelled.rpartition(":") for spelled in process["listens"]]
    places = [(ipaddress.ip_address(host.strip("[]")), int(port)) for host, _, port in places]
    given = process["options"].get("port", "")
    for port in (int(given) if given.isdigit() else None, default_port):
        places = [place for place in places if place[1] == port] or places
    if not places:
        found = sockets(process)
    elif process["host_network"] is not False:
        found = look.endpoints(places)
    else:
        found = [f"http://{each}:{port}" for each in own_addresses(process["pid"]) for _, port in places]
    below = setting(process, "api-prefix", "LLAMA_ARG_API_PREFIX") or ""
    return [each if each.startswith("unix:") else each + below.rstrip("/") for each in found]


def setting(process, option, variable):
    """What it was started with, by an option or else its environment; "" where by neither, None where nobody can tell.

    A redacted value is one that nobody can tell.
    """
    if option in process["options"]:
        value = process["options"][option]
        return None if value == "(redacted)" else value
    try:
        with open(f"/proc/{process['pid']}/environ", encoding="utf-8", errors="replace") as file:
            pairs = (each.partition("=") for each in file.read().split("\0"))
    except OSError:
        return None
    return next((value for name, _, value in pairs if name == variable), "")


def sockets(process):
    """`unix://` URLs of the sockets that it was given and listens on: of llama.cpp a host that ends with .sock.

    What it was only given may be anybody's: root asks no such one.
    """
    hosts = (setting(process, "host", "LLAMA_ARG_HOST") or "").split(",")
    given = {each for each in hosts if each.endswith(".sock")} | {process["options"].get("uds")}
    return [f"unix://{seen_from_here(process['pid'], each)}" for each in listening(process["pid"]) if each in given]


def listening(pid):
    """Paths of the sockets on which a process takes connections; none where that cannot be seen."""
    links = set()
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                links.add(os.readlink(entry.path))
        with open(f"/proc/{pid}/net/unix", encoding="utf-8", errors="replace") as file:
            lines = [line.split(maxsplit=7) for line in file]
    except OSError:
        return []
    taking = (line for line in lines[1:] if len(line) == 8 and int(line[3], 16) & ACCEPTS)
    return sorted(line[7].rstrip("\n") for line in taking if f"socket:[{line[6]}]" in links)


def seen_from_here(pid, path):
    """A path of a process as this host sees it: that of a container has another root."""
    through = f"/proc/{pid}/root{path}"
    return path if os.path.exists(path) and os.path.samefile(path, through) else through


def own_addresses(pid):
    """IPv4 addresses of the network that a process is in, but its loopback: how the host reaches a container."""
    try:
        with open(f"/proc/{pid}/net/fib_trie", encoding="ascii") as file:
            text = file.read()
    except OSError:
        return []
    found = re.findall(r"\|-- (\d+\.\d+\.\d+\.\d+)\n\s+/32 host LOCAL", text)
    return sorted({each for each in found if not each.startswith("127.")})


def servers(processes, runtime, default_port, given, look):
    """Each server of a runtime by its process, then those that are only known by their address.

    Several processes of vLLM may share one port; a router of llama.cpp speaks for those that it has started, and has
    them with it (`inner`); a headless vLLM answers nobody.
    """
    mine = [each for each in processes if (each["runtime"], each["role"]) == (runtime, "server")]
    parents = {each["under"] for each in mine}
    found, known = [], set()
    for process in mine:
        inner = process["under"] is not None and runtime == "llama.cpp"
        reached = endpoints(process, default_port, look)
        spoken_for = reached[0] in known if reached else process["pid"] in parents
        if inner or spoken_for or "headless" in process["options"]:
            continue
        known |= set(reached)
        below = [each for each in mine if each["under"] == process["pid"]]
        behind = [asking(endpoints(each, default_port, look), each) for each in below]
        found.append(asking(reached, process, behind))
    return found + [asking([each], None) for each in given if each not in known]


def asking(reached, process, inner=()):
    """One to ask: where, the process that it is, and those behind it that are asked by themselves."""
    return {"endpoint": reached[0] if reached else None, "process": process, "inner": inner}
