"""Which sysctl.d file decides about a kernel setting at boot, as systemd-sysctl reads them (sysctl.d(5), v255)."""

from collections.abc import Iterable

from fleet.record import Record


class SysctlFile(Record):
    """One file that systemd-sysctl reads, with its lines about forwarding."""

    path: str
    lines: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name in its directory: files are read in the order of these."""
        return self.path.rpartition("/")[2]

    @property
    def settings(self) -> dict[str, str]:
        """What it assigns, by the path below /proc/sys; of one key the last line counts."""
        pairs = (line.strip().removeprefix("-").partition("=") for line in self.lines if _is_assignment(line))
        return {canonical_key(key.strip()): value.strip() for key, _, value in pairs}


def _is_assignment(line: str) -> bool:
    return "=" in line and not line.strip().startswith(("#", ";"))


def canonical_key(key: str) -> str:
    """A setting's path below /proc/sys. Where the first separator is a dot, dots and slashes change places."""
    separators = [character for character in key if character in "./"]
    if separators and separators[0] == ".":
        return key.translate(str.maketrans("./", "/."))
    return key


def decides(files: Iterable[SysctlFile], key: str) -> tuple[str, str] | None:
    """The file that has the last word about a key, and the value it gives; None where no file names the key.

    Files come in the order in which they are read. A pattern (`conf.*.forwarding`) never wins over the key itself.
    """
    found = None
    for file in files:
        if key in file.settings:
            found = (file.path, file.settings[key])
    return found
