"""NetworkManager's keyfiles: where they live, which are loaded, and the lines of them that hold no secret."""

import ipaddress
import posixpath
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Self
from urllib.parse import quote

from fleet.links import Cidr
from fleet.record import Digest, Record, Unobserved

RUN_DIRECTORY = "/run/NetworkManager/system-connections"
NETPLAN_PREFIX = "netplan-"
REDACTED = "<redacted>"
READ_ON_HOST = ".sparks"
"""The group that our own look adds to a keyfile's lines for what it found out about the file."""
WIFI_TYPES = frozenset({"802-11-wireless", "wifi", "wifi-p2p", "802-11-olpc-mesh"})
"""What a profile (`802-11-wireless`), a keyfile and a device (`wifi`) call it; the name is then the SSID."""

_KEPT_ROOTS = ("/etc/", "/usr/lib/", "/lib/", "/var/lib/")
_NETWORKMANAGER_ID = re.compile(r"NM-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=$|-)")
_GENERATED = re.compile(re.escape(NETPLAN_PREFIX) + r"(?P<stem>.+)\.nmconnection", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"s": " ", "n": "\n", "t": "\t", "r": "\r"}


class Storage(StrEnum):
    """Where a profile is kept, which decides whether it is there after a reboot."""

    PERSISTENT = "persistent"
    """A file that stays: in /etc/NetworkManager/system-connections, or a vendor's under /usr/lib."""
    NETPLAN = "netplan"
    """Generated at each boot from netplan's YAML: the file under /run goes, its origin stays."""
    RUNTIME = "runtime"
    """A file that nothing brings back: NetworkManager generated it, or it hides one by a temporary change."""
    IN_MEMORY = "in-memory"
    """No file at all."""

    @property
    def survives_reboot(self) -> bool:
        """Is a profile that is kept so the same after the next boot?"""
        return self in (Storage.PERSISTENT, Storage.NETPLAN)


def storage_of(filename: str, shadows_another: bool = False) -> Storage:
    """How long a profile's file lasts; what is not known to be kept counts as gone."""
    if not filename:
        return Storage.IN_MEMORY
    folder, base = posixpath.split(filename)
    if folder == RUN_DIRECTORY and base.startswith(NETPLAN_PREFIX) and not shadows_another:
        return Storage.NETPLAN
    return Storage.PERSISTENT if filename.startswith(_KEPT_ROOTS) else Storage.RUNTIME


def shown_path(path: str, is_wifi: bool) -> str:
    """The path as it may leave the host: a Wi-Fi profile's file is named after its SSID (cases/041)."""
    if not (path and is_wifi):
        return path
    folder, base = posixpath.split(path)
    prefix = NETPLAN_PREFIX if base.startswith(NETPLAN_PREFIX) else ""
    return posixpath.join(folder, prefix + REDACTED)


class NetplanKeyfile(Record):
    """What the name of a keyfile that netplan generated says: `netplan-<id>[-<SSID>].nmconnection`."""

    id: str
    """The id in netplan's YAML."""
    has_ssid: bool
    shown: str
    """The path without the SSID."""

    @classmethod
    def from_path(cls, path: str, ids: Iterable[str] = ()) -> Self | None:
        """None when netplan did not generate it, or when no known id begins it.

        Both ids and SSIDs hold dashes, so only the ids in the YAML tell where one ends; `NM-<uuid>`,
        which NetworkManager chooses, tells by its form.
        """
        folder, base = posixpath.split(path)
        generated = _GENERATED.fullmatch(base)
        if folder != RUN_DIRECTORY or not generated:
            return None
        stem = generated["stem"]
        own = _NETWORKMANAGER_ID.match(stem)
        known = [each for each in {*ids, *([own.group()] if own else [])} if _begins(stem, each)]
        if not known:
            return None
        id = max(known, key=len)
        has_ssid = stem not in (id, quote(id, safe="!$&'()*+,;=:@"))
        return cls(id=id, has_ssid=has_ssid, shown=_without_ssid(folder, id) if has_ssid else path)


def _begins(stem: str, id: str) -> bool:
    spellings = (id, quote(id, safe="!$&'()*+,;=:@"))
    return any(stem == each or stem.startswith(each + "-") for each in spellings)


def _without_ssid(folder: str, id: str) -> str:
    return posixpath.join(folder, f"{NETPLAN_PREFIX}{id}-{REDACTED}.nmconnection")


class Settings(Record):
    """What a profile's file says of the things that we manage."""

    ipv4_method: str | None = None
    """manual, auto, disabled, …; None where the file leaves it to the default."""
    ipv4_addresses: tuple[Cidr, ...] = ()
    """In order of text: nmcli itself shows them in either direction."""
    mtu: int | None = None
    interface: str | None = None
    """`interface-name`: the device that the profile is bound to by name."""
    mac: str | None = None
    """`mac-address`: the hardware address of the device that it is bound to, in lower case."""
    autoconnect_priority: int = 0
    """-999 for a profile that NetworkManager generated: any real one wins."""


class Keyfile(Record):
    """One keyfile, without its secrets."""

    path: str = ""
    """Without the SSID; empty where the text came without a path."""
    name: str = ""
    uuid: str = ""
    type: str = ""
    settings: Settings | Unobserved = Settings()
    """Not known where the file has something else in it than NetworkManager writes."""
    nm_generated: bool = False
    """NetworkManager made it up for a device that had no profile ("Wired connection 1")."""
    shadows: str | None = None
    """The file that this one hides until the next boot (`nmcli connection modify --temporary`)."""
    content_digest: Digest | None = None
    """sha256 of the file's bytes, computed on the host; None where it was not asked for or may not be told."""

    @property
    def is_durable(self) -> bool:
        """Does the file itself stay when the power goes?"""
        return self.path.startswith(_KEPT_ROOTS)


def parse_keyfile(text: str, path: str = "") -> Keyfile:
    """A keyfile, whole or reduced to the lines that hold no secret. Nonsense in one is about that one alone."""
    try:
        groups = _groups(text)
    except ValueError as error:
        return Keyfile(path=path, settings=Unobserved(reason=str(error)))
    connection, meta = groups.get("connection", {}), groups.get(".nmmeta", {})
    is_wifi = not WIFI_TYPES.isdisjoint({connection.get("type", ""), *groups})
    shadows = meta.get("shadowed-storage")
    return Keyfile(
        path=shown_path(path, is_wifi),
        name=REDACTED if is_wifi else connection.get("id", ""),
        uuid=connection.get("uuid", ""),
        type=connection.get("type", ""),
        settings=_settings(groups) or Unobserved(reason="expected numbers and addresses, found others"),
        nm_generated=meta.get("nm-generated") == "true",
        shadows=None if shadows is None else shown_path(shadows, is_wifi),
        content_digest=groups.get(READ_ON_HOST, {}).get("digest"),
    )


def _groups(text: str) -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {}
    group: dict[str, str] | None = None
    for line in text.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            group = groups.setdefault(line.strip()[1:-1], {})
            continue
        key, equals, value = line.partition("=")
        if group is None or not equals:
            raise ValueError("expected a group or key=value, found another line")
        group[key.strip()] = _unescaped(value.strip())
    return groups


def _unescaped(value: str) -> str:
    """A value as GLib reads it: `\\\\` is a backslash, `\\s` a space (cases/046)."""
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), value)


def _settings(groups: dict[str, dict[str, str]]) -> Settings | None:
    """None where a value is not of its kind."""
    try:
        return _read(groups)
    except ValueError:
        return None


def _read(groups: dict[str, dict[str, str]]) -> Settings:
    connection, ipv4 = groups.get("connection", {}), groups.get("ipv4", {})
    ethernet = groups.get("ethernet", groups.get("802-3-ethernet", {}))
    mtu = int(ethernet.get("mtu", "0"))
    return Settings(
        ipv4_method=ipv4.get("method"),
        ipv4_addresses=tuple(sorted(_addresses(ipv4))),
        mtu=mtu or None,
        interface=connection.get("interface-name"),
        mac=ethernet.get("mac-address", "").lower() or None,
        autoconnect_priority=int(connection.get("autoconnect-priority", "0")),
    )


def _addresses(ipv4: dict[str, str]) -> Iterator[str]:
    """`address1=10.0.0.6/24,10.0.0.1` has its gateway after the comma; `addresses1` and `;` are older."""
    for key, value in ipv4.items():
        if re.fullmatch(r"address(es)?[0-9]*", key):
            first, *rest = re.split(r"[,;]", value)
            address = first if "/" in first or not rest else f"{first}/{rest[0]}"
            yield str(ipaddress.ip_interface(address))
