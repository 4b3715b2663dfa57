"""Lines of /etc/fstab as libmount reads them (util-linux 2.38 to 2.40), and where each mount stands.

A `#` begins a comment only where a line begins, or after the sixth field: `… nfs defaults # ours` is a line that cannot
be read and is left out, by findmnt, mount and systemd alike, with no more than a warning.
"""

import re
from typing import Any

from fleet.record import Record

_ESCAPE = re.compile(r"\\([0-7]{3})")
NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "9p", "fuse.sshfs"})
"""File systems whose server may be gone; to look into one may never end."""
_SAME = {"nfs4": "nfs", "smb3": "cifs"}


class FstabEntry(Record):
    """One line of /etc/fstab that is no comment."""

    number: int
    source: str
    target: str
    type: str
    options: tuple[str, ...] = ()
    """As far as they may leave the host: the value of a secret is `<redacted>`."""
    freq: int = 0
    passno: int = 0
    ours: bool = False
    """It stands between our two marks."""
    wrong: str | None = None
    """Why the line is left out by what mounts; None where it is read."""

    @property
    def is_automounted(self) -> bool:
        """Is it mounted when somebody first looks there?"""
        return "x-systemd.automount" in self.options

    @property
    def is_mounted_at_boot(self) -> bool:
        """Does a boot mount it, or stand ready to?"""
        return self.wrong is None and ("noauto" not in self.options or self.is_automounted)

    def __str__(self) -> str:
        return f"/etc/fstab line {self.number}"


def fstab_entry(number: int, fields: list[str], ours: bool = False) -> FstabEntry:
    """A line from its fields as they stand there, escapes and all."""
    texts = [unescape(each) for each in fields]
    source, target, kind, options = (*texts, "", "", "", "")[:4]
    known: dict[str, Any] = {
        "number": number,
        "source": source,
        "target": target,
        "type": kind,
        "options": tuple(each for each in options.split(",") if each),
        "ours": ours,
    }
    wrong = _wrong(fields)
    if wrong is None:
        freq, passno = (int(each) for each in (*fields[4:6], "0", "0")[:2])
        return FstabEntry(**known, freq=freq, passno=passno)
    return FstabEntry(**known, wrong=wrong)


def _wrong(fields: list[str]) -> str | None:
    if len(fields) < 3:
        return f"{len(fields)} fields where three are the least"
    for each in fields[4:6]:
        if not each.isdigit():
            return "a comment inside the line" if each.startswith("#") else "no number where one must be"
    return None


def unescape(field: str) -> str:
    """A field with its octal escapes resolved: `\\\\040` is a space."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), field)


def escape(text: str) -> str:
    """A field as it is written (fstab(5))."""
    return "".join(f"\\{ord(each):03o}" if each in " \t\n\\" else each for each in text)


def same_type(one: str, other: str) -> bool:
    """Are these one family? What is `nfs` in fstab is `nfs4` once it is mounted."""
    return _SAME.get(one, one) == _SAME.get(other, other)


def nfs_server(source: str) -> tuple[str, str]:
    """Server and export of an NFS source; an IPv6 address is in brackets. Raises ValueError for another source."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.%]+\]|[^:\[\]/]+):(/.*)", source)
    if found is None:
        raise ValueError(f"expected a server and an export as nas:/volume1/models, found {source!r}")
    return found[1], found[2]


def mount_unit(target: str) -> str:
    """The name of the systemd unit of a mount point (systemd.unit(5), systemd-escape --path)."""
    parts = [each for each in target.split("/") if each]
    return f"{escaped_path(parts) or '-'}.mount"


def escaped_path(parts: list[str]) -> str:
    """Parts of a path, as a unit name has them."""
    text = "-".join("".join(_unit_character(each) for each in part) for part in parts)
    return f"\\x2e{text[1:]}" if text.startswith(".") else text


def _unit_character(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in ":_."):
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode())
