"""One file of a host policy, byte for byte, or one link."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from fleet.record import Record

HEAD = "# Managed by sparks (deploys/host.py); what is written here by hand is replaced.\n"
"""The first line of every text of ours."""


UNITS = "/etc/systemd/system"
"""Where units of the administrator are."""


class HostFile(Record):
    """What shall lie at a path: a text, or a symbolic link."""

    path: Annotated[str, Field(pattern=r"^/(etc|usr/local/lib)/.*[^/]$")]
    text: str = ""
    mode: int = 0o644
    link: str | None = None
    """Where it leads, if it is a link; its text is empty then."""


def boot_unit(
    name: str, description: str, commands: Sequence[str], target: str, before: str | None = None
) -> tuple[HostFile, ...]:
    """A unit that runs shell commands once at every boot, and the link by which a target starts it; or nothing.

    + before: another unit that must wait for it. It runs as early as its target then
    """
    if not commands:
        return ()
    early = f"DefaultDependencies=no\nBefore={before} {target}\nConflicts=shutdown.target\n" if before else ""
    starts = "".join(f"ExecStart=/bin/sh -c '{each.replace('$', '$$')}'\n" for each in commands)
    text = f"{HEAD}[Unit]\nDescription={description}\n{early}\n[Service]\nType=oneshot\nRemainAfterExit=yes\n{starts}"
    wanted = f"\n[Install]\nWantedBy={target}\n"
    path = f"{UNITS}/{name}"
    return (
        HostFile(path=path, text=text + wanted),
        HostFile(path=f"{UNITS}/{target}.wants/{name}", link=path),
    )
