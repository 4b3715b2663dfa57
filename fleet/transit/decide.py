"""Does a Spark pass on what its neighbours in a ring send each other: for good, now, and only where it should."""

from collections.abc import Iterator

from fleet.desired import DesiredSpark
from fleet.observation import Observation, known
from fleet.port import port_missing
from fleet.refusal import Refusal
from fleet.step import Step
from fleet.transit.desired import DOCKER_USER, FILE_MODE, FROM_RAIL, OWN_NAME, Transit
from fleet.transit.forbidden import forbidden
from fleet.transit.observed import Firewall, OwnFile, TransitState
from fleet.transit.steps import ActivateTransit, RemoveTransit, WriteTransit

Differences = list[tuple[str, str]]
"""Pairs (found, expected), in words."""


def transit_steps(desired: DesiredSpark, seen: Observation) -> tuple[Step | Refusal, ...]:
    """What makes the Spark forward between its rails, or stop doing so; empty when nothing; or what is in the way."""
    if blind := seen.unobserved("transit"):
        return (blind,)
    state = known(seen.transit)
    if desired.transit is None:
        return tuple(_remove(seen.host, state))
    return tuple(_missing(desired, seen)) or tuple(_steps(desired.transit, seen.host, state, known(seen.firewall)))


def _missing(desired: DesiredSpark, seen: Observation) -> Iterator[Refusal]:
    """What could not be seen, or every port that is not there."""
    if blind := seen.unobserved("links", "firewall"):
        yield blind
        return
    for interface in desired.transit.interfaces if desired.transit else ():
        end = desired.end_on(interface)
        missing = None if end is None else port_missing(end, seen)
        if missing is not None:
            yield missing


def _steps(transit: Transit, host: str, state: TransitState, firewall: Firewall) -> Iterator[Step | Refusal]:
    refusals = tuple(forbidden(transit, host, state, firewall))
    if refusals:
        yield from refusals
        return
    if due := _not_durable(transit, state):
        yield WriteTransit(
            subject=f"{host} transit",
            before=", ".join(found for found, _ in due),
            after=", ".join(expected for _, expected in due),
            reason="forwarding between the rails must survive a power cycle and a restart of Docker",
            transit=transit,
        )
    yield from _activate(transit, host, state, firewall)


def _not_durable(transit: Transit, state: TransitState) -> Differences:
    unit = state.unit
    pairs = [
        (f"sysctl file {_shown(state.sysctl)}", f"sysctl file {_whole(transit.sysctl_digest)}"),
        (f"unit {_shown(unit.file)}", f"unit {_whole(transit.unit_digest)}"),
        (f"unit {'' if unit.is_linked else 'not '}started with Docker", "unit started with Docker"),
        (
            f"systemd has {'an older' if unit.need_daemon_reload else 'this'} unit loaded",
            "systemd has this unit loaded",
        ),
    ]
    return [(found, expected) for found, expected in pairs if found != expected]


def _activate(transit: Transit, host: str, state: TransitState, firewall: Firewall) -> Iterator[ActivateTransit]:
    settings = {key: value for key, value in transit.settings.items() if state.now.get(key) != value}
    start = any(transit.accepted_by(table) != table for table in firewall.filters[:1])
    if not settings and not start:
        return
    due = [(f"{_dotted(key)} {state.now.get(key)}", f"{_dotted(key)} {value}") for key, value in settings.items()]
    due += [(f"{FROM_RAIL} not whole and first in {DOCKER_USER}", f"{FROM_RAIL} first in {DOCKER_USER}")] * start
    yield ActivateTransit(
        subject=f"{host} transit now",
        before=", ".join(found for found, _ in due),
        after=", ".join(expected for _, expected in due),
        reason="opposite Sparks of the ring reach each other only through this one",
        transit=transit,
        start=start,
    )


def _remove(host: str, state: TransitState) -> Iterator[RemoveTransit]:
    """A setting goes back to what a port has that nobody set apart: `ip_forward`, which Docker needs, is not ours."""
    if not state.leftovers:
        return
    ours = next((file.settings for file in state.sysctl_files if file.name == OWN_NAME), {})
    plain = {"forwarding": state.now["net/ipv4/ip_forward"], "rp_filter": state.now["net/ipv4/conf/default/rp_filter"]}
    settings = {key: plain[key.rpartition("/")[2]] for key in ours if key.rpartition("/")[2] in plain}
    yield RemoveTransit(
        subject=f"{host} transit",
        before=", ".join(state.leftovers),
        after="none",
        reason="the roster asks for no transit here",
        settings={key: value for key, value in settings.items() if state.now.get(key, value) != value},
    )


def _shown(file: OwnFile | None) -> str:
    return "absent" if file is None else f"{file.content_digest} {file.mode:04o} {file.owner}"


def _whole(digest: str) -> str:
    return _shown(OwnFile(content_digest=digest, mode=FILE_MODE, owner="root"))


def _dotted(key: str) -> str:
    return key.removeprefix("net/ipv4/conf/").replace("/", " ")
