"""The QEMU processes of a lab: known so exactly that no stranger's process can be stopped by mistake.

A number in a file proves nothing: after a restart it belongs to somebody else. A process is ours when
the boot, its start time and its own command line all say so; it is signalled through a pidfd, which
cannot come to mean another process in between.
"""

import contextlib
import os
import select
import signal
from pathlib import Path

from fleet.record import Record

PROC = Path("/proc")
PROGRAM = "qemu-system-x86_64"
STOP_SECONDS = 10.0
"""How long a process gets to end by itself; an idle QEMU takes well under one second."""


class Process(Record):
    """One process of one boot of this machine."""

    pid: int
    start_ticks: int
    """When it began, in clock ticks since boot: field 22 of /proc/PID/stat."""
    boot_id: str


def identify(pid: int) -> Process | None:
    """The process that has this number now; None when there is none, or only its ended remains."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
        boot_id = (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    # The name, in brackets, may hold spaces and brackets itself: count from the last one.
    state, *fields = stat.rpartition(")")[2].split()
    if state in "ZX":
        return None
    return Process(pid=pid, start_ticks=int(fields[18]), boot_id=boot_id)


def pid_file(directory: Path) -> Path:
    """The file QEMU is told to write; its full path on the command line marks the process as ours."""
    return directory.absolute() / "qemu.pid"


def arguments_of(pid: int) -> list[str]:
    """The command line of a process; empty when it has none or has ended."""
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().decode(errors="surrogateescape").split("\0")
    except OSError:
        return []


def is_running(known: Process, directory: Path) -> bool:
    """Whether the very process runs, and is a QEMU of ours with its run folder `directory`."""
    return identify(known.pid) == known and _is_qemu_of(known.pid, directory)


def _is_qemu_of(pid: int, directory: Path) -> bool:
    argv = arguments_of(pid)
    return bool(argv) and os.path.basename(argv[0]) == PROGRAM and os.fspath(pid_file(directory)) in argv


def stop(known: Process, directory: Path, seconds: float = STOP_SECONDS) -> bool:
    """Stop the process if it is ours, and wait until it has ended; whether there was anything to stop."""
    try:
        descriptor = os.pidfd_open(known.pid)
    except OSError:
        return False
    try:
        # The descriptor is fixed now; what is confirmed from here on is what gets the signal.
        if not is_running(known, directory):
            return False
        for number in (signal.SIGTERM, signal.SIGKILL):
            signal.pidfd_send_signal(descriptor, number)
            if select.select([descriptor], [], [], seconds)[0]:
                break
    except ProcessLookupError:
        pass
    finally:
        os.close(descriptor)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(known.pid, os.WNOHANG)
    return True


def stop_all_below(directory: Path) -> int:
    """Stop every QEMU whose run folder is below `directory`, recorded or not; how many there were."""
    prefix = f"{directory.absolute()}{os.sep}"
    stopped = 0
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        marks = [Path(argument).parent for argument in arguments_of(int(entry.name))
                 if argument.startswith(prefix) and argument.endswith("/qemu.pid")]  # fmt: skip
        known = identify(int(entry.name)) if marks else None
        if known is not None:
            stopped += stop(known, marks[0])
    return stopped
