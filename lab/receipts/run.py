"""What a run was started as: its command line, redacted, and the versions of what it depends on."""

import platform
import sys
from importlib import metadata

from fleet.receipt.redaction import redacted_command

PROGRAMS = ("sparks", "pyinfra", "paramiko", "pydantic")
"""What a run depends on the version of."""


def this_command(*names: str) -> tuple[str, ...]:
    """The command line of this process as a receipt keeps it.

    + names: what may stand for itself: the command, the target; of all else only what is known to be harmless
    """
    return redacted_command(("sparks", *sys.argv[1:]), ("sparks", *names))


def versions() -> dict[str, str]:
    """By program."""
    return {"python": platform.python_version()} | {name: _version(name) for name in PROGRAMS}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
