"""Who runs this, with what: read from this machine alone."""

import os
import platform
import pwd
import sys
from importlib import metadata
from pathlib import Path

from fleet.controller import Controller
from fleet.receipt.redaction import redacted_command

PROGRAMS = ("sparks", "pyinfra", "paramiko", "pydantic")
"""What a run depends on the version of."""


def this_controller() -> Controller:
    """This process. A pid may come again, with its start and the boot it does not."""
    status = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
    return Controller(
        user=_user(),
        host=platform.node(),
        boot_id=Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
        pid=os.getpid(),
        started_ticks=int(status.rpartition(")")[2].split()[19]),
    )


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


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"
