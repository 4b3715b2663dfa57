"""Which interface a definition really applies to. Its id is one of several ways to say so."""

import re

from fleet.netplan.records import Binds
from fleet.netplan.settings import NetplanSettings

PHYSICAL = frozenset({"ethernets", "wifis", "modems", "nm-devices"})
"""Sections whose definitions find an interface; the others make one, and call it by their id."""

_PATTERN = re.compile(r"[*?\[]")
_NETWORKMANAGER_ID = re.compile(r"NM-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def binds(section: str, id: str, written: NetplanSettings) -> Binds:
    """An exact name first, NetworkManager's own before the others; then criteria; then none."""
    passthrough = written.passthrough_values
    if name := passthrough.get("connection.interface-name"):
        return Binds(interface=name)
    if section not in PHYSICAL:
        return Binds(interface=id)
    found = _by_id(id, passthrough) if section == "nm-devices" else _by_match(id, written)
    patterns = passthrough.get("match.interface-name")
    if patterns and found.interface is None:
        return found.model_copy(update={"names": _networkmanager_patterns(patterns)})
    return found


def _by_id(id: str, passthrough: dict[str, str]) -> Binds:
    """A definition that only NetworkManager understands; the name that netplan gives one is no interface."""
    if _NETWORKMANAGER_ID.fullmatch(id):
        return Binds(macaddress=(passthrough.get("ethernet.mac-address") or "").lower() or None)
    return Binds(interface=id)


def _by_match(id: str, written: NetplanSettings) -> Binds:
    """`match: {}` is for every interface of the kind, whatever the id; see `settings.reopened`."""
    match = written.match
    if match is None:
        return Binds(interface=id)
    if written.set_name:
        return Binds(interface=written.set_name, macaddress=match.macaddress)
    if match.name and not (_PATTERN.search(match.name) or match.drivers):
        return Binds(interface=match.name, macaddress=match.macaddress)
    names = (match.name,) if match.name else ()
    return Binds(names=names, drivers=match.drivers, macaddress=match.macaddress)


def _networkmanager_patterns(text: str) -> tuple[str, ...]:
    """`|` and `&` before a pattern say how it joins the others; `!` excludes."""
    return tuple(pattern.strip().lstrip("|&") for pattern in re.split(r"[;,]", text) if pattern.strip())
