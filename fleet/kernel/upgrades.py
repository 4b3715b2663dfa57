"""What may move the kernel by itself, and whether something waits for a boot."""

import re

from fleet.record import Record

TIMERS = ("apt-daily.timer", "apt-daily-upgrade.timer", "fwupd-refresh.timer")
"""The timers that may change packages by themselves."""
_SETTING = re.compile(r'(?P<name>[A-Za-z0-9:_/.-]+) "(?P<value>.*)";')
_PERIODIC = "APT::Periodic::"
_UNATTENDED = "Unattended-Upgrade::"


class Upgrades(Record):
    """Unattended upgrades and their timers."""

    timers: dict[str, str]
    """By timer, what `systemctl is-enabled` says of it: `enabled`, `disabled`, `masked`, `not-found`."""
    is_installed: bool
    """Is the program `unattended-upgrade` there?"""
    every_days: str = "0"
    """APT::Periodic::Unattended-Upgrade: `0` never, `1` each day, `always`."""
    is_enabled: bool = True
    """APT::Periodic::Enable."""
    origins: tuple[str, ...] = ()
    """Which archives it takes packages from."""
    left_alone: tuple[str, ...] = ()
    """Unattended-Upgrade::Package-Blacklist: regular expressions from the start of a name."""
    may_reboot: bool = False
    reboot_required: bool = False
    """/run/reboot-required: something waits for a boot."""
    reboot_packages: tuple[str, ...] = ()
    """What asked for it, sorted."""

    @property
    def is_active(self) -> bool:
        """Does anything upgrade packages by itself?"""
        is_timed = self.timers.get("apt-daily-upgrade.timer") in ("enabled", "enabled-runtime", "static", "alias")
        return is_timed and self.is_installed and self.is_enabled and self.every_days not in ("", "0")

    def moves(self, package: str) -> bool:
        """Would it upgrade a package that nobody holds?"""
        return self.is_active and not any(_starts(pattern, package) for pattern in self.left_alone)


def _starts(pattern: str, package: str) -> bool:
    try:
        return re.match(pattern, package) is not None
    except re.error:
        return False


def parse_upgrades(text: str) -> Upgrades:
    """From lines `timer=NAME STATE`, `program=yes|no`, `reboot=yes|no`, `reboot-package=NAME`, and of apt-config."""
    pairs = [line.partition("=")[::2] for line in text.split("\n")]
    said = {key: value for key, value in pairs if key in ("program", "reboot")}
    if said.keys() != {"program", "reboot"}:
        raise ValueError("upgrades: expected the program and the reboot, found less")
    settings = [(match["name"], match["value"]) for line in text.split("\n") if (match := _SETTING.fullmatch(line))]
    last = dict(settings)
    return Upgrades(
        timers=dict(_timer(value) for key, value in pairs if key == "timer"),
        is_installed=said["program"] == "yes",
        every_days=last.get(f"{_PERIODIC}Unattended-Upgrade", "0"),
        is_enabled=last.get(f"{_PERIODIC}Enable", "1") != "0",
        origins=_listed(settings, "Allowed-Origins") + _listed(settings, "Origins-Pattern"),
        left_alone=_listed(settings, "Package-Blacklist"),
        may_reboot=last.get(f"{_UNATTENDED}Automatic-Reboot", "false").lower() in ("true", "1", "yes"),
        reboot_required=said["reboot"] == "yes",
        reboot_packages=tuple(sorted({value for key, value in pairs if key == "reboot-package" and value})),
    )


def _timer(value: str) -> tuple[str, str]:
    name, _, state = value.partition(" ")
    return name, state or "not-found"


def _listed(settings: list[tuple[str, str]], name: str) -> tuple[str, ...]:
    return tuple(value for key, value in settings if key == f"{_UNATTENDED}{name}::")
