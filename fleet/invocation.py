"""One running process that serves, and what it was doing when it was looked at. Pure.

Its identity is exact: a process is itself only in the boot in which it started. What it does (models, clients) changes
by itself and is no part of that.
"""

import json
from typing import Annotated, Any, Literal

from fleet.ollama.store import listed
from fleet.record import VOLATILE, Digest, Record, Unobserved


class Invocation(Record):
    """One running process that serves; its `digest` names it, and no other process on any host ever."""

    runtime: Literal["ollama"] = "ollama"
    unit: str | None
    """The systemd unit of its control group; None where it is in none, as in a container's own view."""
    pid: int
    start_ticks: int
    """When it started, in clock ticks since the boot: a pid is used again, a pid and its start are not."""
    boot_id: str
    executable_digest: Digest
    """Of the bytes that it was started from (`/proc/PID/exe`), also where another file has their name by now."""
    argv_digest: Digest
    """Of its arguments as the kernel keeps them (`/proc/PID/cmdline`)."""

    def is_process(self, other: "Invocation") -> bool:
        """Is it the very same process?"""
        return (self.boot_id, self.pid, self.start_ticks) == (other.boot_id, other.pid, other.start_ticks)

    def is_program(self, other: "Invocation") -> bool:
        """Is it the same executable with the same arguments, under the same unit?"""
        mine = (self.runtime, self.unit, self.executable_digest, self.argv_digest)
        return mine == (other.runtime, other.unit, other.executable_digest, other.argv_digest)

    def __str__(self) -> str:
        return f"pid {self.pid} of {self.unit or 'no unit'}"


class Running(Record):
    """The process of one runtime's unit, and what it was doing."""

    invocation: Invocation | None
    """None where the unit has no process."""
    listens: tuple[str, ...] = ()
    """The addresses and ports on which it takes connections, as the kernel has them: `0.0.0.0:11434`, `[::]:11434`."""
    models: tuple[str, ...] | Unobserved = ()
    """What it has loaded, by its own word at an address on which it really listens; sorted."""
    clients: Annotated[tuple[str, ...] | Unobserved, VOLATILE] = ()
    """The far address of each connection to it that is up, sorted: that many requests may run, and no more."""
    other: str | None = None
    """Who else listens where clients shall reach it: `pid 4121 (ollama, session-3.scope)`."""

    @property
    def may_serve(self) -> bool:
        """Has it models loaded, or can nobody tell?"""
        return self.invocation is not None and (isinstance(self.models, Unobserved) or bool(self.models))

    @property
    def loaded(self) -> str:
        """What it has loaded, in words."""
        if isinstance(self.models, Unobserved):
            return f"models that could not be observed ({self.models.reason})"
        return " and ".join(self.models) or "no model"


def parse_running(text: str) -> Running:
    """From the JSON of a look at a process; raises ValueError."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, found {type(found).__name__}")
    if "error" in found:
        raise ValueError(found["error"])
    invocation = found["invocation"]
    return Running(
        invocation=None if invocation is None else Invocation(**invocation),
        listens=tuple(sorted(found["listens"])),
        models=_models(found["models"]),
        clients=tuple(sorted(found["clients"])),
        other=found["other"],
    )


def _models(found: dict[str, Any] | None) -> tuple[str, ...] | Unobserved:
    if found is None:
        return ()
    if "error" in found:
        return Unobserved(reason=found["error"])
    try:
        return tuple(sorted(each["name"] for each in listed(found["body"])))
    except (ValueError, KeyError) as error:
        return Unobserved(reason=f"/api/ps: {error}")
