"""GRUB on the disk of an image: put there by the machine itself, in a boot that does nothing else."""

import os
import subprocess
from pathlib import Path

from virtual import computer, host, process
from virtual.errors import LabError

INSTALL = "/usr/local/sbin/lab-grub"
"""The guest's program that installs GRUB, writes its menu, and ends the machine (guest/grub/files)."""

INSTALLED = "lab-grub-done"
"""What that program writes to the console when all of it has succeeded."""

INSTALL_SECONDS = 600.0
"""When it is given up: 35 s on two busy cores (measured 2026-11-30)."""


def install(base: Path, kernel: Path, initrd: Path) -> None:
    """Boot the disk `base` with a kernel of its own, started by QEMU, to install GRUB; a panic ends it at once.

    Raises a `LabError` with the last line of the console where it failed.
    """
    directory = base.parent / "grub"
    directory.mkdir()
    log = directory / "serial.log"
    quick = f"quiet loglevel=3 mitigations=off {computer.SAME_PLACES}"
    append = f"root=/dev/vda1 rw console=ttyS0 {quick} panic=-1 init={INSTALL}"
    argv = [
        host.program(process.PROGRAM), *computer.computer("grub"), "-pidfile", os.fspath(process.pid_file(directory)),
        "-serial", f"file:{log}", "-no-reboot", "-kernel", os.fspath(kernel), "-initrd", os.fspath(initrd),
        "-append", append, "-drive", computer.drive(os.fspath(base)), "-device", computer.DISK,
    ]  # fmt: skip
    try:
        subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise LabError(f"GRUB: expected it installed within {INSTALL_SECONDS:.0f} s, found {_last(log)!r}") from None
    if INSTALLED not in log.read_text(errors="replace"):
        raise LabError(f"GRUB: expected it installed, found {_last(log)!r}")
    host.remove_tree(directory)


def _last(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return lines[-1].strip() if lines else "no output"
