"""What looks at a host's transit found: our files, the kernel's settings now and at boot, and its firewall."""

import json
from typing import Annotated, Any

from fleet.record import VOLATILE, Record
from fleet.transit.firewall import Filter
from fleet.transit.sysctl import SysctlFile


class OwnFile(Record):
    """A file under one of our names."""

    content_digest: str | None = None
    """None where it is no regular file, as a link to /dev/null."""
    mode: int
    owner: str


class OwnUnit(Record):
    """The unit that puts our rules back, on disk and as systemd has it."""

    file: OwnFile | None = None
    is_linked: bool = False
    """The link is there that lets a start of Docker start it."""
    need_daemon_reload: bool = False
    """systemd has an older file loaded, or does not know of the link."""


class TransitState(Record):
    """What makes a host forward between its rails, as far as it is there."""

    now: dict[str, str]
    """The kernel's settings by their path below /proc/sys: `ip_forward`, and those of each fabric port."""
    sysctl: OwnFile | None = None
    unit: OwnUnit = OwnUnit()
    sysctl_files: tuple[SysctlFile, ...] = ()
    """Every file of sysctl.d that says something about forwarding, in the order in which they are read at boot."""

    @property
    def leftovers(self) -> tuple[str, ...]:
        """What lies on the host under our names, in words."""
        found = {"sysctl file": self.sysctl, "unit": self.unit.file, "link to the unit": self.unit.is_linked}
        return tuple(name for name, there in found.items() if there)


class ForeignChain(Record):
    """A native nftables chain that forwarded packets meet besides iptables', and whose policy is to drop."""

    table: str
    """Family and name, `inet filter`."""
    name: str
    accepts: tuple[str, ...] = ()
    """The interfaces where what arrives is accepted by name."""


class Firewall(Record):
    """Everything on a host that may stop a forwarded packet."""

    docker: str | None = None
    """systemd's word for `docker.service`, `active` or another; None where there is no such unit."""
    filters: Annotated[tuple[Filter, ...], VOLATILE] = ()
    """The table of the `iptables` that Docker calls comes first; empty where there is no such program. Docker changes
    it with each container."""
    foreign: tuple[ForeignChain, ...] = ()
    zones: dict[str, str] | None = None
    """The zone of each interface, where firewalld runs."""


def parse_transit(text: str) -> TransitState:
    """The state from the JSON of a look; raises ValueError."""
    return TransitState.model_validate(_answer(text))


def parse_firewall(text: str) -> Firewall:
    """The firewall from the JSON of a look; raises ValueError."""
    return Firewall.model_validate(_answer(text))


def _answer(text: str) -> Any:
    found: Any = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, found {type(found).__name__}")
    if "error" in found:
        raise ValueError(found["error"])
    return found
