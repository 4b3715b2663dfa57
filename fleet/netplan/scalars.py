"""Values as netplan takes them and YAML does not: `n` is false, `1` is no boolean, 09000 is 9000."""

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

TRUE = frozenset({"true", "on", "yes", "y"})
FALSE = frozenset({"false", "off", "no", "n"})
_UNSIGNED = re.compile(r"[ \t\n\v\f\r]*\+?([0-9]*)")
_MAC = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}((:[0-9A-Fa-f]{2}){14})?")
MOST_UNSIGNED = 2**32 - 1


def boolean(text: str) -> bool | None:
    """True or False, or None for what netplan rejects."""
    lower = text.lower() if text.isascii() else text
    return True if lower in TRUE else False if lower in FALSE else None


def unsigned(text: str) -> int | None:
    """A decimal number of 32 bits as strtoull reads it, or None for what netplan rejects. Nothing is 0."""
    found = _UNSIGNED.fullmatch(text) if text.isascii() and len(text) < 64 else None
    number = int(found[1] or 0) if found else MOST_UNSIGNED + 1
    return number if number <= MOST_UNSIGNED else None


def ip(text: str) -> IPv4Address | IPv6Address | None:
    """An address without zone, or None."""
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None


def cidr(text: str) -> str | None:
    """An address and its prefix in one spelling, or None for what netplan rejects."""
    address, slash, prefix = text.partition("/")
    found, bits = ip(address), unsigned(prefix)
    if not slash or found is None or not bits or bits > found.max_prefixlen:
        return None
    return f"{found.compressed}/{bits}"


def parts(text: str) -> list[str]:
    """The parts of a value of NetworkManager's: `192.168.102.10/24,192.168.102.1`."""
    return [part for part in re.split(r"[,;\s]+", text) if part]


def is_hardware_address(text: str) -> bool:
    """An Ethernet or InfiniBand address."""
    return bool(_MAC.fullmatch(text))


def is_own_address(text: str) -> bool:
    """What an interface may call itself: an address, or how to make one."""
    return is_hardware_address(text) or text in ("permanent", "random", "stable", "preserve", "default")


def default_destination(to: str, via: str | None) -> str:
    """`default` written out in the family of its gateway."""
    if to != "default":
        return to
    return "::/0" if via and ":" in via else "0.0.0.0/0"


def _of_version(version: int, text: str) -> str | None:
    found = ip(text)
    return text if found and found.version == version else None


KINDS: Final[dict[str, tuple[Callable[[str], str | int | None], str]]] = {
    "text": (str, ""),
    "name": (lambda text: text or None, "invalid name"),
    "bool": (boolean, "invalid boolean value"),
    "uint": (unsigned, "invalid unsigned int value"),
    "version": (lambda text: 2 if unsigned(text) == 2 else None, "only version 2 is supported"),
    "renderer": (lambda text: text if text in ("networkd", "NetworkManager") else None, "unknown renderer"),
    "ip": (lambda text: text if ip(text) else None, "malformed address"),
    "ipv4": (lambda text: _of_version(4, text), "invalid IPv4 address"),
    "ipv6": (lambda text: _of_version(6, text), "invalid IPv6 address"),
    "hardware_address": (lambda text: text if is_hardware_address(text) else None, "invalid MAC address"),
    "own_address": (lambda text: text if is_own_address(text) else None, "invalid MAC address"),
}
"""By the vocabulary's word for a single value: how netplan reads it, None where it rejects it, and its complaint."""


def spelled(kind: str, text: str) -> str:
    """One value in one spelling, so that equal ones compare equal; unchanged where netplan rejects it."""
    read, _ = KINDS.get(kind, KINDS["text"])
    value = read(text)
    if isinstance(value, bool):
        return "true" if value else "false"
    return text if value is None else str(value)
