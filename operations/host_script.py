"""What each step of a host policy runs on the host, as root."""

from shlex import quote

from fleet.host.steps import (
    FeedWatchdog,
    ReloadSystemd,
    RemoveHostFile,
    SetDefaultTarget,
    SetKernelValues,
    SetOomScore,
    SetUnitActive,
    SetUnitFile,
    WriteHostFile,
)
from fleet.host.text import HostFile
from fleet.step import Step
from operations.acting import write_file

ROOT = ""
"""What stands before every path; tests put a directory there."""


_MANAGER = "org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager"
_VERBS = {"enabled": ("unmask", "enable"), "disabled": ("unmask", "disable"), "masked": ("disable", "mask")}


def script(step: Step) -> str:
    """The POSIX script that carries a step out; killed anywhere in it, it leaves a state from which one is due."""
    match step:
        case WriteHostFile(file=file):
            return _write(file)
        case RemoveHostFile(path=path):
            return f"rm -f {quote(ROOT + path)}\nsync {quote(_folder(path))}\n"
        case SetKernelValues(values=values):
            return "".join(f"printf %s {quote(each)} > {quote(ROOT + path)}\n" for path, each in values.items())
    return _systemd(step)


def _systemd(step: Step) -> str:
    match step:
        case SetUnitFile(unit=unit, wish=wish):
            return "".join(f"timeout 60 systemctl --quiet {each} {quote(unit)}\n" for each in _VERBS[wish])
        case SetUnitActive(unit=unit, active=active):
            reset = f"timeout 60 systemctl reset-failed {quote(unit)} 2>/dev/null || true\n"
            return (reset if active else "") + f"timeout 120 systemctl {'start' if active else 'stop'} {quote(unit)}\n"
        case ReloadSystemd():
            return "timeout 60 systemctl daemon-reload\n"
        case SetDefaultTarget(target=target):
            return f"timeout 60 systemctl --quiet set-default {quote(target)}\n"
        case FeedWatchdog(seconds=seconds):
            return f"timeout 60 busctl set-property {_MANAGER} RuntimeWatchdogUSec t {seconds * 1_000_000}\n"
        case SetOomScore(unit=unit, score=score):
            pid = f"pid=$(timeout 60 systemctl show {quote(unit)} --property MainPID --value)\n"
            return f'{pid}[ "$pid" -gt 0 ] && printf %s {score} > {quote(ROOT)}/proc/"$pid"/oom_score_adj\n'
    raise AssertionError(f"expected a step of a host policy, found {step.kind}")


def _folder(path: str) -> str:
    return (ROOT + path).rpartition("/")[0]


def _write(file: HostFile) -> str:
    folder = f"mkdir -p {quote(_folder(file.path))}\n"
    if file.link is not None:
        return f"{folder}ln -sfnT {quote(file.link)} {quote(ROOT + file.path)}\nsync {quote(_folder(file.path))}\n"
    return folder + write_file(ROOT + file.path, file.text, file.mode)
