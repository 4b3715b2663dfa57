"""Where the servers of a runtime are reached, by their processes. Carried as text, beside `engines`."""

import contextlib
import ipaddress
import os
import re

ACCEPTS = 1 << 16
"""__SO_ACCEPTCON among the flags of /proc/net/unix: it takes connections (proc_pid_net(5))."""


def endpoints(process, default_port, look):
    """URLs at which a client on this host reaches a process, in a network of its own too.

    At the port that it was given and no other: a vLLM that loads listens on ports at which its parts find each other.
    Else at the usual one; else, but of vLLM, at any: defaults have moved between versions. One that has no port may
    have a socket.
    """
    places = [spelled.rpartition(":") for spelled in process["listens"]]
    places = [(ipaddress.ip_address(host.strip("[]")), int(port)) for host, _, port in places]
    given = process["options"].get("port", "")
    port = int(given) if given.isdigit() else 0
    at_port = [place for place in places if place[1] == (port or default_port)]
    places = at_port if port or only_there(process) else at_port or places
    if not places:
        found = sockets(process)
    elif process["host_network"] is not False:
        found = look.endpoints(places)
    else:
        found = [f"http://{each}:{port}" for each in own_addresses(process["pid"]) for _, port in places]
    below = setting(process, "api-prefix", "LLAMA_ARG_API_PREFIX") or ""
    return [each if each.startswith("unix:") else each + below.rstrip("/") for each in found]


def only_there(process):
    """Is its port the usual one where none is among its arguments? So is vLLM's, without a file of arguments."""
    return process["runtime"] == "vllm" and "config" not in process["options"]


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

    Several processes of vLLM share one port, and the arguments of the one that started them; a router of llama.cpp
    speaks for those that it has started, and has them with it (`inner`); a headless vLLM answers nobody.
    """
    mine = {each["pid"]: each for each in processes if (each["runtime"], each["role"]) == (runtime, "server")}
    below = {pid: [each for each in mine.values() if each["under"] == pid] for pid in mine}
    found, known = [], set()
    for process in mine.values():
        if process["under"] in mine or "headless" in process["options"]:
            continue
        family = [process, *below[process["pid"]]]
        if runtime == "llama.cpp":
            reached = endpoints(process, default_port, look)
            behind = [asking(endpoints(each, default_port, look), each) for each in family[1:]]
        else:
            told = [endpoints({**each, "options": process["options"]}, default_port, look) for each in family]
            reached, behind = next(filter(None, told), []), []
        if known.isdisjoint(reached):
            found.append(asking(reached, process, behind))
        known |= set(reached)
    return found + [asking([each], None) for each in given if each not in known]


def asking(reached, process, inner=()):
    """One to ask: where, the process that it is, and those behind it that are asked by themselves."""
    return {"endpoint": reached[0] if reached else None, "process": process, "inner": inner}
