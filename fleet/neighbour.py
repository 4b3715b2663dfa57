"""A program of somebody else that may hold memory on a Spark: declared, so that it is known. Never touched. Pure."""

import posixpath
from typing import Annotated, Self

from pydantic import Field, model_validator

from fleet.record import Record
from fleet.wall import wall

_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9@_.:+-]{1,128}$")]


class Neighbour(Record):
    """One of them, by exactly one name."""

    unit: _Word | None = None
    """Its systemd unit: `comfyui.service`."""
    container: _Word | None = None
    """The name of its container."""
    program: _Word | None = None
    """The name of its executable, without its folder."""
    note: str | None = None
    """Why it is there, and whose it is."""

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        given = [name for name in ("unit", "container", "program") if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise wall("neighbour_name", f"neighbours: expected one of unit, container and program, found {found}")
        return self

    @property
    def called(self) -> str:
        """How the roster names it: `unit comfyui.service`."""
        return next(f"{kind} {name}" for kind, name in self if name is not None)

    def is_it(self, unit: str | None, container: str | None, program: str | None) -> bool:
        """Is a process with this unit, container name and executable the one that is meant?"""
        if self.unit is not None:
            return self.unit == unit
        if self.container is not None:
            return self.container == container
        return program is not None and self.program == posixpath.basename(program)
