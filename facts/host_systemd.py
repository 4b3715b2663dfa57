"""What systemd says of a host: units, the target of the next boot, the watchdog."""

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.host import clock, manager, units

DESKTOP = (
    "gdm.service", "gdm3.service", "lightdm.service", "cups.service", "cups-browsed.service", "bluetooth.service",
    "avahi-daemon.service", "ModemManager.service", "packagekit.service", "power-profiles-daemon.service",
)  # fmt: skip
REACHED_BY = ("ssh.service", "tailscaled.service")
TIME = ("systemd-timesyncd.service", "chrony.service", "ntpsec.service")
WATCHED = (*DESKTOP, *REACHED_BY, *TIME, "docker.service", "earlyoom.service", "systemd-oomd.service")
"""What a look asks for where nobody names units: a desktop's, what a host is reached by, and other guards of memory."""


class Units(Look[units.Units]):
    """
    Units by name: whether they start at boot and run now, what would start them again, and how they stand to a shortage
    of memory; ``None`` when they were not observed. A unit that does not exist is one that is ``not-found``.

    + names: the units; those of a desktop and those a host is reached by if not given
    + root: a directory to look under instead of ``/``

    .. code:: python

        Units(units={
            "gdm.service": UnitState(
                name="gdm.service", id="gdm.service", load_state="loaded", file_state="static", active_state="active", …
            ),
        })
    """

    @override
    def command(self, names: tuple[str, ...] = WATCHED, root: str = "") -> str:
        return remote_python("host_systemd", what="units", root=root, names=names)

    @override
    def parse(self, text: str) -> units.Units:
        return units.parse_units(text)


class Manager(Look[manager.Manager]):
    """
    What the next boot goes to, and the watchdog that systemd feeds; ``None`` when it was not observed.

    + root: a directory to look under instead of ``/``

    .. code:: python

        Manager(
            default_target="multi-user.target", watchdog_seconds=30.0,
            devices=(WatchdogDevice(name="watchdog0", identity="SBSA Generic Watchdog", state="active", …),),
        )
    """

    needs_root = True

    @override
    def command(self, root: str = "") -> str:
        return as_root(remote_python("host_systemd", what="manager", root=root))

    @override
    def parse(self, text: str) -> manager.Manager:
        return manager.parse_manager(text)


class Logins(Look[clock.Logins]):
    """
    What happens to a user's shared memory when the last session ends; ``None`` when it was not observed.

    + users: names that are looked up
    + root: a directory to look under instead of ``/``

    .. code:: python

        Logins(removes_ipc=True, lingering=("spark",), users={"spark": True})
    """

    needs_root = True

    @override
    def command(self, users: tuple[str, ...] = (), root: str = "") -> str:
        return as_root(remote_python("host_systemd", what="logins", root=root, users=users))

    @override
    def parse(self, text: str) -> clock.Logins:
        return clock.parse_logins(text)
