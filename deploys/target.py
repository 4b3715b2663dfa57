"""The start of every deploy: what this host should be, and whether the whole target may be touched at all."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

import gevent
from gevent.lock import BoundedSemaphore
from pyinfra import logger
from pyinfra.api import Host, State
from pyinfra.api.exceptions import PyinfraError

from facts.desired import drained_for, roster_for
from facts.needs import looks_for, observation
from facts.observe import watch
from fleet.desired import DesiredSpark
from fleet.generation import Begun
from fleet.instant import utc_now
from fleet.plan import Plan, Refusals, plan
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.roster_error import RosterError
from fleet.target import Scope, Target
from operations.lock import at_rest

_DIGEST = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]{52}")
"""A digest that people only compare by eye."""

_LOCK = BoundedSemaphore()


@dataclass(frozen=True)
class _Planned:
    """What the first host to ask has found for all hosts of a run."""

    scope: Scope
    at: datetime
    """When it was planned."""
    plans: tuple[Plan, ...]
    """One for each host, which is a target of its own."""
    refusals: tuple[Refusal, ...]


_PLANNED: WeakKeyDictionary[State, _Planned] = WeakKeyDictionary()


def desired_state(host: Host, scope: Scope) -> DesiredSpark:
    """What this host should be, once every host of the run has been observed and found fit to be planned.

    + scope: how much of it the deploy makes; one that is included by another is a part of that one's plan

    Raises PyinfraError with every refusal on every host: then nothing is written anywhere.
    """
    roster = _roster(host)
    if host.name not in roster.enrolled:
        raise PyinfraError(f"{host.name}: expected a spark that the roster enrols, found none of that name")
    with _LOCK:
        planned = _PLANNED.get(host.state)
        if planned is None:
            planned = _PLANNED[host.state] = _plan(host.state, roster, scope)
    if not planned.scope.includes(scope):
        raise PyinfraError("deploys/serve.py: expected it alone, since it makes the fabric too, found it after another")
    if planned.refusals:
        raise PyinfraError("refused, nothing was written\n" + "\n".join(map(str, planned.refusals)))
    return roster.desired_for(host.name)


def applied_to(host: Host) -> Begun | None:
    """The plan that this run carries out on this host, as a stamp names it; None where nothing is due here.

    `desired_state` comes before it.
    """
    planned = _PLANNED[host.state]
    for each in planned.plans:
        if any(one.host == host.name and one.steps for one in each.hosts):
            desired = _roster(host).desired_for(host.name)
            return Begun(plan=each.digest, desired=desired.digest, scope=planned.scope, at=planned.at)
    return None


def is_whole(host: Host, scope: Scope) -> bool:
    """Is this scope what the run is about, and no part of a wider one?"""
    return _PLANNED[host.state].scope is scope


def _roster(host: Host) -> Roster:
    try:
        return roster_for(host)
    except RosterError as error:
        raise PyinfraError(str(error)) from error


def _plan(state: State, roster: Roster, scope: Scope) -> _Planned:
    hosts = list(state.inventory.get_active_hosts())
    unknown = sorted(each.name for each in hosts if each.name not in roster.enrolled)
    if unknown:
        raise PyinfraError(f"{', '.join(unknown)}: expected only sparks that the roster enrols, found these")
    if any(each.data.get("roster") != hosts[0].data.get("roster") for each in hosts):
        raise PyinfraError("roster: expected one for all hosts of a run, found several; it is the site's, not a host's")
    looking = {each.name: gevent.spawn(_observed, each, roster.desired_for(each.name), scope) for each in hosts}
    gevent.joinall(list(looking.values()), raise_error=True)
    seen = {name: greenlet.get() for name, greenlet in looking.items()}
    sparks = [Target(name=name, kind="spark", hosts=(name,)) for name in sorted(seen)]
    drained = frozenset().union(*map(drained_for, hosts))
    outcomes = [plan(roster, target, seen, scope, drained) for target in sparks]
    refusals = dict.fromkeys(no for each in outcomes if isinstance(each, Refusals) for no in each.refusals)
    plans = tuple(each for each in outcomes if isinstance(each, Plan))
    if not refusals:
        _show(plans)
    return _Planned(scope, utc_now(), plans, tuple(refusals))


def _observed(host: Host, desired: DesiredSpark, scope: Scope) -> Any:
    looks = looks_for(desired, scope)
    watch(host, *looks.values())
    return at_rest(host, lambda: observation(host, host.name, looks))


def _show(plans: Iterable[Plan]) -> None:
    for each in (host for outcome in plans for host in outcome.hosts):
        if not each.steps:
            logger.info(f"--> {each.host} is as desired")
        for step in each.steps:
            logger.info("--> " + _DIGEST.sub(r"\1…", str(step)))
        for note in each.notes:
            logger.info(f"--> {note}")
