"""The written forms that Ollama reads: Go durations and OLLAMA_HOST.

Standard library only and no imports of ours: the looks at a host carry this text with them.
"""

import ipaddress
import re
from decimal import Decimal

MAX_INT64 = 2**63 - 1
"""Go's longest duration in nanoseconds, 292 years: what Ollama keeps for ever is kept this long."""
NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = re.compile(r"([0-9]*)(\.[0-9]*)?([^0-9.]*)")
_HOST_AND_PORT = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]*)):([^:\[\]]*)")


def parse_duration(text: str) -> int:
    """Go's time.ParseDuration, in nanoseconds; raises ValueError."""
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    total = 0
    for number, unit in _parts(text, rest):
        total += int(Decimal(number) * NANOSECONDS[unit])
    if total > MAX_INT64:
        raise ValueError(f"expected a duration under 292 years, found {text!r}")
    return -total if text[:1] == "-" else total


def _parts(text: str, rest: str) -> list[tuple[str, str]]:
    found = []
    while rest:
        match = _PART.match(rest)
        number = (match[1] or "") + (match[2] or "") if match else ""
        if match is None or number in ("", ".") or match[3] not in NANOSECONDS:
            break
        found.append((number, match[3]))
        rest = rest[match.end() :]
    if rest or not found:
        raise ValueError(f"expected a duration as 24h or 1m30s, found {text!r}")
    return found


def parse_setting_duration(text: str) -> int:
    """A duration as OLLAMA_KEEP_ALIVE spells it: a bare number is seconds; raises ValueError."""
    text = unquoted(text)
    return int(text) * 10**9 if re.fullmatch(r"[+-]?[0-9]+", text) else parse_duration(text)


def unquoted(value: str) -> str:
    """A setting as Ollama takes it: without spaces, then without quotes around it."""
    return value.strip().strip("\"'")


def parse_host(value: str) -> tuple[str, str, int, str]:
    """OLLAMA_HOST as scheme, host, port and path.

    It accepts everything, as Ollama does: an invalid port is silently the default one, and that is 80 or 443
    where a scheme is given.
    """
    value = unquoted(value).strip()
    scheme, found, rest = value.partition("://")
    if not found:
        scheme, rest = "http", value
    default = {"http": 80, "https": 443}.get(scheme, 11434) if found else 11434
    if not found and value == "ollama.com":
        scheme, default = "https", 443
    hostport, _, path = rest.partition("/")
    match = _HOST_AND_PORT.fullmatch(hostport)
    if match is None:
        return scheme, _bare_host(hostport), default, path
    port = match[3]
    valid = re.fullmatch(r"[+-]?[0-9]+", port) and 0 <= int(port) <= 65535
    return scheme, match[1] or match[2] or "", int(port) if valid else default, path


def _bare_host(text: str) -> str:
    address = text.strip("[]")
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return text or "127.0.0.1"
    if isinstance(found, ipaddress.IPv6Address):
        if found.scope_id:
            return text
        return str(found.ipv4_mapped or found)
    return str(found)


def connect_host(host: str) -> str:
    """Where a client on the same machine reaches what listens on `host`: every address means loopback."""
    if host in ("", "0.0.0.0", "localhost"):
        return "127.0.0.1"
    return "::1" if host == "::" else host


def url(scheme: str, host: str, port: int, path: str) -> str:
    """One spelling for an address, IPv6 in brackets."""
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port}" + (f"/{path}" if path else "")


def connect_url(value: str) -> str:
    """The URL by which the same machine reaches a server whose OLLAMA_HOST is `value`."""
    scheme, host, port, path = parse_host(value)
    return url(scheme, connect_host(host), port, path)
