"""Our lines of /etc/fstab: between two marks, and nothing else in that file is ours."""

from collections.abc import Iterable

from fleet.host.fstab import escape
from fleet.host.mount_policy import MountPolicy

MARKS = (
    "# sparks: begin (deploys/host.py); what is written here by hand is replaced",
    "# sparks: end",
)


def fstab_line(target: str, mount: MountPolicy) -> str:
    """One line: no dump, no check, since both are for local disks."""
    fields = (escape(mount.source), escape(target), mount.type, escape(",".join(mount.options) or "defaults"), "0", "0")
    return " ".join(fields)


def fstab_lines(mounts: Iterable[tuple[str, MountPolicy]]) -> tuple[str, ...]:
    """All of ours with their marks; none where there is no mount."""
    lines = tuple(fstab_line(target, mount) for target, mount in mounts)
    return (MARKS[0], *lines, MARKS[1]) if lines else ()
