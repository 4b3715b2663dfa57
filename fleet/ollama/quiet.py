"""Does a request run on an Ollama, by the instruments there are: its connections, and when its models were last used.

Ollama has no metric of running requests. A request holds its connection until it is answered, so none runs where no
connection is up; one that is up may be idle, which the kernel tells by what went over it last. The end of each request
moves the expiry of its model in /api/ps (`server/sched.go`), so one that came and went between two looks shows too.

Standard library only and no imports of ours: what waits on a host carries this text with it.
"""

import ipaddress
import re
from typing import Any

Connection = dict[str, int]
"""What the kernel knows of one connection."""
Look = dict[str, Any]
"""`clients`: the connections by their far ends, None where nothing is known of one. `models`: the expiry of each by its
name; None where the server did not say."""

_PLACE = re.compile(r"\[?([0-9a-fA-F:.]+)(?:%[^\]:]+)?\]?:(\d+)")


def parse_connections(text: str) -> dict[str, Connection]:
    """What `ss -Htni` knows of each connection, by its far end: milliseconds and bytes; missing numbers are 0."""
    found = {}
    for entry in re.sub(r"\n\s+", " ", text).splitlines():
        words = entry.split()
        if len(words) < 4 or not words[0].isdigit():
            continue
        numbers = dict(each.split(":", 1) for each in words[4:] if re.fullmatch(r"\w+:\d+", each))
        names = ("lastsnd", "lastrcv", "bytes_sent", "bytes_received")
        found[place(words[3])] = {"unread": int(words[0])} | {name: int(numbers.get(name, 0)) for name in names}
    return found


def place(text: str) -> str:
    """One spelling of an address and its port, an IPv4 address in IPv6 clothes as itself; raises ValueError."""
    match = _PLACE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected an address and a port, found {text!r}")
    address = ipaddress.ip_address(match[1])
    address = getattr(address, "ipv4_mapped", None) or address
    return f"[{address}]:{match[2]}" if address.version == 6 else f"{address}:{match[2]}"


def may_run(connection: Connection | None) -> bool:
    """May a request be running on a connection? Not where nothing has come, or the last word was the server's.

    The kernel counts in its own ticks (1 to 10 ms): where both came in one tick, it may. None: nothing is known of it.
    """
    if connection is None:
        return True
    if connection["bytes_received"] == 0:
        return False
    return connection["unread"] > 0 or connection["bytes_sent"] == 0 or connection["lastrcv"] <= connection["lastsnd"]


def activity(before: Look | None, now: Look, since_ms: float) -> list[str]:
    """What has gone on since the look before, or goes on; nothing is quiet.

    + before: None at the first look
    + since_ms: milliseconds from the look before
    """
    running = [far for far, each in now["clients"].items() if may_run(each)]
    answered = [
        far
        for far, each in now["clients"].items()
        if far not in running and each["bytes_received"] and min(each["lastsnd"], each["lastrcv"]) <= since_ms
    ]
    said = [f"{len(running)} may run, from {hosts(running)}"] if running else []
    said += [f"{len(answered)} just answered, to {hosts(answered)}"] if answered else []
    if before is not None and before["models"] is not None and now["models"] is not None:
        used = sorted(name for name, end in now["models"].items() if before["models"].get(name) != end)
        said += [f"{', '.join(used)} just used"] if used else []
    return said


def hosts(places: list[str]) -> str:
    """The addresses of some places, each once."""
    return ", ".join(sorted({each.rpartition(":")[0] for each in places}))
