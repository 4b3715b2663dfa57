"""Observing a host: everything wanted of it in one exec channel, kept until something may have changed.

pyinfra caches no fact: every `get_fact` is a round trip. An observation here is reused inside one phase of a
run until a command ran on that host, and never across phases, so that acting never rests on an old look.
"""

from dataclasses import dataclass, field
from typing import Any

from pyinfra.api import Host, State

from facts.bundle import Bundle, Wanted
from fleet.record import Unobserved

_KEY = "sparks observation"


@dataclass
class _Seen:
    """What was seen of one host, and when: `epoch` moves with the phase and with every command."""

    epoch: tuple[bool, int, int] | None = None
    values: dict[Wanted, Any] = field(default_factory=dict)
    watched: dict[Wanted, None] = field(default_factory=dict)
    forgotten: int = 0
    settled: int = 0
    """Operations of ours that looked again after their last command."""


def watch(host: Host, *wanted: Wanted) -> None:
    """Name looks that this run needs of the host: the next observation takes them all in one go."""
    _seen(host).watched.update(dict.fromkeys(wanted))


def observe(host: Host, *wanted: Wanted) -> dict[Wanted, Any]:
    """The value of each look, or `Unobserved`; what this epoch has not seen is observed in one exec channel.

    The first look of a phase takes everything watched along; after a command only what is asked for is new.
    """
    seen = _seen(host)
    epoch = (host.state.is_executing, _operations_that_ran(host.state, host) - seen.settled, seen.forgotten)
    is_new_phase = seen.epoch is None or seen.epoch[0] != epoch[0]
    if seen.epoch != epoch:
        seen.epoch, seen.values = epoch, {}
    asked = dict.fromkeys(wanted) | (seen.watched if is_new_phase else {})
    missing = tuple(sorted((look for look in asked if look not in seen.values), key=lambda look: look.name))
    if missing:
        seen.values.update(_look(host, missing))
    return {look: seen.values[look] for look in wanted}


def forget(host: Host) -> None:
    """Something was written on the host: the next `observe` looks again.

    Before the execution nothing is: commands may be collected then, and that must cost no second look.
    """
    if host.state.is_executing:
        look_again(host)


def look_again(host: Host) -> None:
    """What was seen may have changed, whoever did it: the next `observe` looks again in any phase."""
    _seen(host).forgotten += 1


def settle(host: Host) -> None:
    """The operation that runs now has looked after its last command, so its end makes nothing old."""
    _seen(host).settled += 1


def _look(host: Host, wanted: tuple[Wanted, ...]) -> dict[Wanted, Any]:
    answer = host.get_fact(Bundle, facts=wanted, _ignore_errors=True)
    if answer is None:
        unobserved = Unobserved(reason=f"{host.name} did not answer, see the error above")
        return dict.fromkeys(wanted, unobserved)
    return {look: answer[look.name] for look in wanted}


def _seen(host: Host) -> _Seen:
    seen: _Seen = host.connector_data.setdefault(_KEY, _Seen())
    return seen


def _operations_that_ran(state: State, host: Host) -> int:
    """How many operations, ours or anybody's, have run a command on the host in this run."""
    return sum(data.operation_meta.executed for data in state.ops[host].values())
