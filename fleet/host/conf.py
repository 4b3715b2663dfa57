"""Lines of systemd's configuration files, of its units and their drop-ins: who has the last word."""

from collections.abc import Iterable

from fleet.record import Record
from fleet.refusal import Refusal

OWN_NAME = "90-sparks-host.conf"
"""Of our drop-ins: after what packages ship, before what people write to have the last word (99)."""


class ConfLine(Record):
    """One line with a key that was asked for."""

    path: str
    number: int
    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.path} line {self.number}"


def overridden(subject: str, key: str, wanted: Iterable[str], lines: Iterable[ConfLine]) -> Refusal | None:
    """Why our drop-in would not have the last word about a key; None where it has.

    + wanted: every way to write the value, ours first
    + lines: in the order in which systemd reads them
    """
    accepted = tuple(wanted)
    later = [each for each in lines if each.key == key and _is_after_ours(each.path)]
    if not later or later[-1].value.lower() in accepted:
        return None
    last = later[-1]
    return Refusal(
        code="conf_overridden",
        subject=f"{subject} {key} at boot",
        expected=accepted[0],
        found=f"{last.value} by {last}",
        hint=f"take line {last.number} out of {last.path}",
    )


def _is_after_ours(path: str) -> bool:
    """Drop-ins come after the file itself, by name whatever their directory."""
    folder, _, name = path.rpartition("/")
    return folder.endswith(".d") and name > OWN_NAME
