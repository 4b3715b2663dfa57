"""The fabric as a host sees it: who touches its ports, whom it reaches over its rails, and how fast."""

import json
import shlex
from collections.abc import Iterable
from typing import Any, ClassVar

from pyinfra import host
from typing_extensions import override

from facts.bundle import Wanted, bundled, unbundled
from facts.desired import roster_for
from facts.look import Look, as_root, remote_python
from facts.netplan import NetplanFiles, NetplanLeftovers
from facts.network import Connections, Links
from fleet.bandwidth import Measured
from fleet.bandwidth_run import bandwidth_run, measured
from fleet.ownership import Ports, ports
from fleet.pings import HEADERS, PingTarget, RailPing, ping_targets, rail_ping
from fleet.plain import shown
from fleet.record import Unobserved
from fleet.roster import Roster
from fleet.roster_error import RosterError

_LOOKS = (Wanted(NetplanFiles), Wanted(Connections), Wanted(Links), Wanted(NetplanLeftovers))


class PortOwners(Look[Ports]):
    """
    Every netplan file, keyfile, profile and hand-made address that touches a fabric port, by owner, and whether it
    is ``persistent``, ``ephemeral`` (lost at the next boot) or ``unknown``; ``None`` when not all was observed.
    Always all four ports, in the order of their names in ``fleet.hardware``.

    .. code:: python

        Ports(
            ports=(
                Port(
                    interface="enp1s0f0np0", present=True,
                    claims=(
                        Claim(
                            owner="NVIDIA playbook helper, sparkrun or sparknet", lasting="persistent",
                            name="enp1s0f0np0", file="/etc/netplan/40-cx7.yaml", line=4,
                            content_digest="sha256:…", addresses=("192.168.100.10/24",), mtu=9000,
                        ),
                    ),
                ),
                …
            ),
            leftovers=("/etc/netplan/10-qsfp.yaml.sync-disabled-20261129",),
        )
    """

    needs_root: ClassVar[bool] = True
    timeout_seconds: ClassVar[float] = Connections.timeout_seconds + 20

    @override
    def command(self) -> str:
        return bundled(_LOOKS)

    @override
    def parse(self, text: str) -> Ports:
        answers: dict[str, Any] = unbundled(_LOOKS, text)
        for name, value in answers.items():
            if isinstance(value, Unobserved):
                raise ValueError(f"{name}: {value.reason}")
        return ports(*(answers[look.name] for look in _LOOKS))


class RailPings(Look[tuple[RailPing, ...]]):
    """
    Whether this Spark reaches every peer on each of its rails, and in a ring with transit all others: a small ping,
    then one of the rail's whole MTU that nothing may fragment; ``None`` when they were not observed.

    One direction each; the other is observed on the other Spark. A rail can be good in one direction only. All
    are pinged at once, within 25 s. What to ping is taken from the roster of the host's group_data.

    .. code:: python

        (
            RailPing(
                rail=102, source="srv5", interface="enp1s0f1np1", own="192.168.102.10", target="srv6",
                target_interface="enp1s0f1np1", address="192.168.102.11", mtu=9000,
                answered=True, rtt_ms=0.31, at_mtu=False, failure="message too long", detail="mtu 1500",
            ),
        )
    """

    def command(self) -> str:
        try:
            targets = ping_targets(_enrolling(host.name), host.name)
        except RosterError as error:
            return _refused(error)
        return remote_python("rail_pings", targets=[each.to_json() for each in targets], headers=HEADERS)

    @override
    def parse(self, text: str) -> tuple[RailPing, ...]:
        return tuple(
            rail_ping(PingTarget(**each["target"]), each["small"], each["whole"]) for each in _answers(text)["answers"]
        )


class RailBandwidth(Look[tuple[Measured, ...]]):
    """
    RDMA bandwidth of every rail of this Spark in both directions, measured with ``ib_write_bw`` of perftest;
    ``None`` when it could not be measured at all.

    It loads the rails: ask only for it while nobody works with them, and ask all Sparks of a fabric at once, since
    each test needs both its ends. They go through one list of tests (``fleet.bandwidth_schedule``), so that one
    rail of a Spark is measured at a time. The GID index is chosen by address; only rail addresses are listened on.

    + seconds: how long each test runs, of which one at either end is left out
    + sparks: the Sparks that take part, by name, separated by commas; the hosts of the run if not given

    .. code:: python

        (
            Measured(
                direction=Direction(rail=102, source=RailEnd(…), target=RailEnd(…), floor_gbps=90.0),
                role="source", device="rocep1s0f1", gid_index=3, gbps=109.3,
            ),
            Measured(direction=…, role="target", gbps=Unobserved(reason="srv7 takes no part in this run")),
        )
    """

    needs_root: ClassVar[bool] = True
    """Locked memory is limited for others."""
    timeout_seconds: ClassVar[float] = 3600.0
    """Each of its own tests is given up long before; this is for a host that stops answering."""

    def command(self, seconds: int = 4, sparks: str | Iterable[str] = ()) -> str:
        try:
            present = _named(sparks) or [each.name for each in host.state.inventory.get_active_hosts()]
            return as_root(
                remote_python("rail_bandwidth", **bandwidth_run(_enrolling(host.name), host.name, present, seconds))
            )
        except (RosterError, ValueError) as error:
            return _refused(error)

    @override
    def parse(self, text: str) -> tuple[Measured, ...]:
        return measured(_answers(text))


def _named(sparks: str | Iterable[str]) -> tuple[str, ...]:
    """The names that were given, as pyinfra has read them from a command line; raises ValueError for others."""
    if not isinstance(sparks, str | Iterable) or not all(isinstance(each, str) for each in sparks):
        raise ValueError(f"sparks: expected names separated by commas, found {shown(sparks)}")
    return tuple(sparks.split(",") if isinstance(sparks, str) else sparks) if sparks else ()


def _enrolling(name: str) -> Roster:
    """The roster of the host's site; raises RosterError where it is none, or does not enrol the host."""
    roster = roster_for(host)
    if name not in roster.enrolled:
        raise RosterError([f"{name}: expected a spark that the roster enrols, found none of that name"])
    return roster


def _refused(error: Exception) -> str:
    return f"echo {shlex.quote(str(error))} >&2; exit 64"


def _answers(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    if "refused" in found:
        raise ValueError(found["refused"])
    return found
