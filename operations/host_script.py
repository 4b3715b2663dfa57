"""What each step of a host policy runs on the host, as root."""

from shlex import quote

from fleet.host.fstab import mount_unit
from fleet.host.steps import (
    EnableLinger,
    FeedWatchdog,
    MakeDirectory,
    MakeSwap,
    MountNow,
    RebuildInitramfs,
    ReloadLogind,
    ReloadSystemd,
    RemoveHostFile,
    RunMemoryGuard,
    SetDefaultTarget,
    SetKernelValues,
    SetOomScore,
    SetUnitActive,
    SetUnitFile,
    Unmount,
    UseSwap,
    UseTimeServers,
    WriteFstab,
    WriteHostFile,
)  # fmt: skip
from fleet.host.text import HostFile
from fleet.host.time_servers import TIME_UNITS
from fleet.kernel.steps import HoldPackages
from fleet.step import Step
from operations.acting import write_file
from operations.apt_script import hold
from operations.fstab_script import fstab_script

ROOT = ""
"""What stands before every path; tests put a directory there."""


_MANAGER = "org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager"
_VERBS = {"enabled": ("unmask", "enable"), "disabled": ("unmask", "disable"), "masked": ("disable", "mask")}
_LEFT = "timeout 60 systemctl cat {unit} >/dev/null 2>&1 || exit 0\n"
"""Nothing need be disabled where a mask was all there was: Debian leaves one of a package that was removed
(deb-systemd-helper), as of timesyncd's once chrony is installed."""


def script(step: Step) -> str:
    """The POSIX script that carries a step out; killed anywhere in it, it leaves a state from which one is due."""
    match step:
        case WriteHostFile(file=file):
            return _write(file)
        case RemoveHostFile(path=path):
            return f"rm -f {quote(ROOT + path)}\nsync {quote(_folder(path))}\n"
        case HoldPackages(packages=packages):
            return hold(packages)
        case WriteFstab(lines=lines, marks=marks):
            return fstab_script(f"{ROOT}/etc/fstab", lines, marks)
        case MakeSwap(path=path, size_bytes=size):
            return _swap(ROOT + path, size)
        case SetKernelValues(values=values):
            return "".join(f"printf %s {quote(each)} > {quote(ROOT + path)}\n" for path, each in values.items())
    return _systemd(step)


def _systemd(step: Step) -> str:
    match step:
        case SetUnitFile(unit=unit, wish=wish):
            first, then = (f"timeout 60 systemctl --quiet {each} {quote(unit)}\n" for each in _VERBS[wish])
            return first + (_LEFT.format(unit=quote(unit)) if wish == "disabled" else "") + then
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
    return _others(step)


def _others(step: Step) -> str:
    match step:
        case UseSwap(path=path):
            return f"swapon {quote(ROOT + path)}\n"
        case Unmount(target=target):
            return f"timeout 60 umount {quote(target)}\n"
        case MountNow(target=target, automount=True):
            unit = mount_unit(target).removesuffix(".mount")
            return f"mkdir -p {quote(ROOT + target)}\ntimeout 60 systemctl start {quote(f'{unit}.automount')}\n"
        case MountNow(target=target):
            return f"mkdir -p {quote(ROOT + target)}\ntimeout 100 mount {quote(target)}\n"
        case RebuildInitramfs(releases=releases):
            return "".join(f"timeout 900 update-initramfs -u -k {quote(each)}\n" for each in releases)
        case MakeDirectory(path=path, mode=mode, user=user, group=group):
            return f"install -d -m {mode} -o {quote(user)} -g {quote(group)} {quote(ROOT + path)}\n"
        case RunMemoryGuard(unit=unit):
            return f"timeout 60 systemctl daemon-reload\ntimeout 60 systemctl restart {quote(unit)}\n"
        case ReloadLogind():
            return "timeout 60 systemctl kill --kill-whom=main --signal=HUP systemd-logind.service\n"
        case UseTimeServers(service="chrony"):
            return "timeout 60 chronyc reload sources >/dev/null\n"
        case UseTimeServers(service=service):
            return f"timeout 60 systemctl restart {TIME_UNITS[service]}\n"
        case EnableLinger(user=user):
            return f"timeout 60 loginctl enable-linger {quote(user)}\n"
    raise AssertionError(f"expected a step of a host policy, found {step.kind}")


def _swap(path: str, size: int) -> str:
    """Whole before it has its name: a file that is half made is never taken for swap."""
    new = quote(f"{path}.new")
    return f"""
umask 077
rm -f {new}
trap 'rm -f {new}' EXIT
fallocate -l {size} {new}
mkswap {new} >/dev/null
sync {new}
mv -fT {new} {quote(path)}
trap - EXIT
sync {quote(path.rpartition("/")[0] or "/")}
"""


def _folder(path: str) -> str:
    return (ROOT + path).rpartition("/")[0]


def _write(file: HostFile) -> str:
    folder = f"mkdir -p {quote(_folder(file.path))}\n"
    if file.link is not None:
        return f"{folder}ln -sfnT {quote(file.link)} {quote(ROOT + file.path)}\nsync {quote(_folder(file.path))}\n"
    return folder + write_file(ROOT + file.path, file.text, file.mode)
