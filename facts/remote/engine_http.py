"""Find the servers of a runtime by their processes, and ask them over HTTP. Carried as text.

No key is sent: an engine that asks for one says so, and nothing more. No proxy either.
"""

import http.client
import ipaddress
import json
import re
import urllib.parse

LIMIT_BYTES = 8 * 2**20
SECONDS = 5


def asked(endpoint, path, redirects=1):
    """The status and body of a GET; {"error": why} where there is no answer."""
    parts = urllib.parse.urlsplit(endpoint)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        connection = connect(parts.hostname, parts.port, timeout=SECONDS)
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        body = answer.read(LIMIT_BYTES + 1)
        connection.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        return {"error": plain(error)}
    if answer.status in (301, 302, 307, 308) and redirects:
        there = urllib.parse.urlsplit(urllib.parse.urljoin(endpoint + path, answer.getheader("Location", "")))
        if there.netloc == parts.netloc:
            return asked(endpoint, there.path, redirects - 1)
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
    found = {}
    for path, pick in picks.items():
        answer = asked(endpoint, path)
        if "error" in answer and not found:
            return {each: {"error": answer["error"]} for each in picks}
        found[path] = picked(answer, pick)
    return found


def silent(paths):
    """What one says that listens nowhere."""
    return {path: {"error": "it does not listen yet"} for path in paths}


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

    At the port that it was given, else at the usual one, else at any: defaults have moved between versions.
    """
    places = [spelled.rpartition(":") for spelled in process["listens"]]
    places = [(ipaddress.ip_address(host.strip("[]")), int(port)) for host, _, port in places]
    given = process["options"].get("port", "")
    for port in (int(given) if given.isdigit() else None, default_port):
        places = [place for place in places if place[1] == port] or places
    if process["host_network"] is not False:
        return look.endpoints(places)
    return [f"http://{each}:{port}" for each in own_addresses(process["pid"]) for _, port in places]


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

    Several processes of vLLM may share one port; a router of llama.cpp speaks for those that it has started; a
    headless vLLM answers nobody.
    """
    mine = [each for each in processes if (each["runtime"], each["role"]) == (runtime, "server")]
    parents = {each["under"] for each in mine}
    found, known = [], set()
    for process in mine:
        inner = process["under"] is not None and runtime == "llama.cpp"
        reached = endpoints(process, default_port, look)
        endpoint = reached[0] if reached else None
        spoken_for = endpoint in known if endpoint else process["pid"] in parents
        if inner or spoken_for or "headless" in process["options"]:
            continue
        known |= set(reached)
        found.append({"endpoint": endpoint, "process": process})
    return found + [{"endpoint": each, "process": None} for each in given if each not in known]
