"""What somebody else has set on a host so that forwarded packets would not pass: it is reported, never fought."""

from collections.abc import Iterator

from fleet.refusal import Refusal
from fleet.transit.desired import OWN_NAME, Transit
from fleet.transit.firewall import Filter
from fleet.transit.observed import Firewall, TransitState
from fleet.transit.sysctl import decides

TRUSTED = "trusted"
"""firewalld's zone that accepts everything, also what goes from one of its interfaces to another."""


def forbidden(transit: Transit, host: str, state: TransitState, firewall: Firewall) -> Iterator[Refusal]:
    """Each thing that would stop packets between the rails, at the next boot or now, with our own rules in place."""
    if overridden := _overridden(transit, state):
        (key, value), (path, other) = overridden
        yield Refusal(
            code="transit_overridden",
            subject=f"{host} {key.replace('/', '.')} at boot",
            expected=value,
            found=f"{other} by {path}",
            hint=f"take it out of {path} on the host",
        )
    if stopped := _stopped(transit, firewall):
        yield Refusal(
            code="transit_blocked",
            subject=f"{host} transit",
            expected="a firewall that passes packets from rail to rail",
            found=stopped[0],
            hint=stopped[1],
        )


def _overridden(transit: Transit, state: TransitState) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """A setting of ours, and the file read after ours that gives it another value."""
    later = [file for file in state.sysctl_files if file.name > OWN_NAME]
    for key, value in transit.settings.items():
        last = decides(later, key)
        if last is not None and last[1] != value:
            return (key, value), last
    return None


def _stopped(transit: Transit, firewall: Firewall) -> tuple[str, str] | None:
    """What stops some packets, and what its owner can do."""
    rails = ", ".join(transit.interfaces)
    for interface in transit.interfaces if firewall.zones is not None else ():
        zone = (firewall.zones or {}).get(interface, "no zone")
        if zone != TRUSTED:
            hint = f"firewall-cmd --permanent --zone={TRUSTED} --change-interface={interface} on the host, and --reload"
            return f"firewalld with {interface} in {zone}", hint
    for table in _with_ours(transit, firewall):
        if stop := next(filter(None, map(table.stops, transit.traffic)), None):
            return stop, f"accept what is forwarded between {rails} before that (ufw: ufw route allow in on … out on …)"
    for chain in firewall.foreign:
        if not set(transit.interfaces) <= set(chain.accepts):
            return f"nftables: policy drop of {chain.table} {chain.name}", f"add iifname {{ {rails} }} accept there"
    return None


def _with_ours(transit: Transit, firewall: Firewall) -> tuple[Filter, ...]:
    """The tables as they are once our rules are in; the unit puts them into that of `iptables`, the first."""
    return (*map(transit.accepted_by, firewall.filters[:1]), *firewall.filters[1:])
