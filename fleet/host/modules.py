"""Options of kernel modules: what a boot gives them, and what they have now (modprobe.d(5), kmod 31)."""

from typing import Annotated

from pydantic import Field

from fleet.host.answer import answer
from fleet.host.conf import ConfLine
from fleet.record import Record

ModuleName = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,64}$")]
"""With `_`, as in /sys/module: modprobe takes `-` for the same."""
ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}$")]
ParameterValue = Annotated[int, Field(strict=True)] | Annotated[str, Field(pattern=r"^[!$-\[\]-~]+$", max_length=200)]


class Parameter(Record):
    """One parameter of a module that is loaded."""

    value: str | None
    """None where the module does not tell it."""
    is_writable: bool = False
    """Can it be changed while the module is loaded?"""


class Initrd(Record):
    """What one kernel starts from."""

    release: str
    holds: bool
    """A module that was asked for is in it, and gets its options from the copy of modprobe.d in there."""
    is_older: bool
    """Than our file."""


class Modules(Record):
    """The modules that were asked for."""

    loaded: dict[str, dict[str, Parameter]]
    """Parameters by module, of those that are loaded."""
    lines: tuple[ConfLine, ...] = ()
    """What modprobe.d gives them, in the order in which it is read; the key is `module.parameter`."""
    initrds: tuple[Initrd, ...] = ()


def parse_modules(text: str) -> Modules:
    """The modules from the JSON of a look; raises ValueError."""
    return Modules.model_validate(answer(text))


def same_parameter(value: str) -> str:
    """A value as it is compared: a truth is shown as Y or N, whatever it was given as."""
    return {"Y": "1", "y": "1", "N": "0", "n": "0"}.get(value, value)
