"""Kexec HandOver: is it in the running kernel, and is it at work?"""

from fleet.kernel.running import CommandLine
from fleet.record import Record

_TRUE, _FALSE = ("1", "y", "Y", "t", "T", "on", "On", "ON"), ("0", "n", "N", "f", "F", "off", "Off", "OFF")
"""What kstrtobool reads from a value, by its first letters (lib/kstrtox.c)."""


class Kho(Record):
    """What the running kernel was built with, and what is set aside for a crash kernel."""

    is_built_in: bool | None
    """CONFIG_KEXEC_HANDOVER; None where the host has no /boot/config-<release>."""
    is_default: bool = False
    """CONFIG_KEXEC_HANDOVER_ENABLE_DEFAULT: on without a word on the command line."""
    crash_bytes: int | None = None
    """/sys/kernel/kexec_crash_size: memory kept for a crash kernel; None where the kernel has no such thing."""

    def is_on(self, line: CommandLine) -> bool | None:
        """Is it at work in a kernel that was started with this command line? None where nobody can tell."""
        said = line.last("kho")
        if self.is_built_in is False:
            return False
        if said in _TRUE or (said is None and line.has("kho")):
            return True
        if said in _FALSE:
            return False
        return None if self.is_built_in is None else self.is_default


def parse_kho(text: str) -> Kho:
    """From lines `config=there` or `config=absent`, `crash=<bytes>`, and those of the kernel's configuration."""
    lines = set(text.split("\n"))
    if not lines & {"config=there", "config=absent"}:
        raise ValueError("kho: expected whether there is a configuration, found nothing of it")
    crash = [line.removeprefix("crash=") for line in lines if line.startswith("crash=")]
    return Kho(
        is_built_in="CONFIG_KEXEC_HANDOVER=y" in lines if "config=there" in lines else None,
        is_default="CONFIG_KEXEC_HANDOVER_ENABLE_DEFAULT=y" in lines,
        crash_bytes=int(crash[0]) if crash else None,
    )
