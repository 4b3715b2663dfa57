"""This machine and this process, as a lock on a host names them; and whether a process lives here."""

import os
import pwd
import re
import socket
from functools import cache
from pathlib import Path

from fleet.controller import Controller
from fleet.record import sha256_digest

_PROC = Path("/proc")


@cache
def controller() -> Controller:
    """Who runs this, and where. What a machine without `/proc` does not tell is missing there."""
    return Controller(
        user=_word(_user()),
        host=_word(socket.gethostname()),
        boot_id=_text(_PROC / "sys/kernel/random/boot_id") or "",
        pid=os.getpid(),
        started_ticks=started_ticks(os.getpid()) or 0,
        pid_namespace=_namespace(),
        machine_id_digest=_machine_id_digest(),
    )


def started_ticks(pid: int) -> int | None:
    """When a process of this machine started, in clock ticks since the boot; None where it does not live."""
    stat = _text(_PROC / str(pid) / "stat")
    if stat is None:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])


def _word(name: str) -> str:
    """Free of what would need quoting on a command line."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)


def _user() -> str:
    """By the process's own user and not its environment, in which anybody may say anything."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _namespace() -> str | None:
    try:
        return "".join(re.findall(r"\d+", os.readlink(_PROC / "self/ns/pid"))) or None
    except OSError:
        return None


def _machine_id_digest() -> str | None:
    text = _text(Path("/etc/machine-id"))
    return sha256_digest(text.encode()) if text else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
