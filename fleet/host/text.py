"""One file of a host policy, byte for byte, or one link."""

from typing import Annotated

from pydantic import Field

from fleet.record import Record

HEAD = "# Managed by sparks (deploys/host.py); what is written here by hand is replaced.\n"
"""The first line of every text of ours."""


class HostFile(Record):
    """What shall lie at a path: a text, or a symbolic link."""

    path: Annotated[str, Field(pattern=r"^/(etc|usr/local/lib)/.*[^/]$")]
    text: str = ""
    mode: int = 0o644
    link: str | None = None
    """Where it leads, if it is a link; its text is empty then."""
