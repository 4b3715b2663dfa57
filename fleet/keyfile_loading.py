"""Which files NetworkManager loads as profiles; it skips the others with at most a line in its journal."""

import posixpath
import re

from fleet.record import Record

EXTENSION = ".nmconnection"
_FOLDERS = {
    "/etc/NetworkManager/system-connections": False,
    "/run/NetworkManager/system-connections": True,
    "/usr/lib/NetworkManager/system-connections": True,
}
"""Each folder that is read, and whether a file there needs the extension."""
_LEFT_OVERS = re.compile(r"(~|\.(swp|swpx|pem|der))$", re.IGNORECASE)
_TEMPORARY = re.compile(r"\.[a-zA-Z0-9]{6}$")
"""mkstemp's form; it also takes `home.office` and `<uuid>.nmmeta` (seen with NetworkManager 1.52.1)."""
_LISTED = re.compile(r"(?P<mode>[-dlbcps][-rwxsStT]{9})[.+@]? +(?P<owner>\S+) +(?P<path>/.*)")


class KeyfileEntry(Record):
    """A directory entry where profiles are kept; of a symbolic link, what it leads to."""

    path: str
    mode: str
    """As `ls` prints it: `-rw-------`."""
    owner: str

    @property
    def why_not_loaded(self) -> str | None:
        """Why NetworkManager passes it over; None when it loads it."""
        folder, base = posixpath.split(self.path)
        if folder not in _FOLDERS:
            return "not in a folder of profiles"
        return _bad_name(base, _FOLDERS[folder]) or self._bad_file()

    @property
    def is_loaded(self) -> bool:
        """Does NetworkManager load it (if its content is a profile)?"""
        return self.why_not_loaded is None

    def _bad_file(self) -> str | None:
        if not self.mode.startswith("-"):
            return "not a regular file"
        if self.owner not in ("root", "0"):
            return "owner is not root"
        return None if self.mode[4:10] == "------" else "insecure permissions"


def is_profile_path(path: str) -> bool:
    """Is a file of this path one that NetworkManager loads, going by its folder and name alone?"""
    folder, base = posixpath.split(path)
    return folder in _FOLDERS and _bad_name(base, _FOLDERS[folder]) is None


def _bad_name(base: str, needs_extension: bool) -> str | None:
    if base.startswith("."):
        return "hidden"
    if base.endswith(EXTENSION) and base != EXTENSION:
        return None
    if needs_extension:
        return f"no {EXTENSION} extension"
    return "backup or temporary file" if _LEFT_OVERS.search(base) or _TEMPORARY.search(base) else None


def parse_keyfile_listing(text: str) -> tuple[KeyfileEntry, ...]:
    """Entries from lines of mode, owner and path, which may hold spaces; raises ValueError otherwise."""
    entries = []
    for number, line in enumerate(text.split("\n"), start=1):
        found = _LISTED.fullmatch(line)
        if line and not found:
            raise ValueError(f"line {number}: expected mode, owner and path, found another form")
        if found:
            entries.append(KeyfileEntry(**found.groupdict()))
    return tuple(entries)
