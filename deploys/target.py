"""The start of every deploy: what this host should be, and whether the whole target may be touched at all."""

import re
from typing import Any
from weakref import WeakKeyDictionary

import gevent
from gevent.lock import BoundedSemaphore
from pyinfra import logger
from pyinfra.api import Host, State
from pyinfra.api.exceptions import PyinfraError

from facts.desired import roster_for
from facts.needs import looks_for, observation
from facts.observe import watch
from fleet.desired import DesiredSpark
from fleet.plan import Plan, Refusals, plan
from fleet.roster import Roster
from fleet.roster_error import RosterError

_DIGEST = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]{52}")
"""A digest that people only compare by eye."""

_LOCK = BoundedSemaphore()
_PLANS: WeakKeyDictionary[State, Plan | Refusals] = WeakKeyDictionary()
"""The plan of a run: the first host to ask makes it for all."""


def desired_state(host: Host) -> DesiredSpark:
    """What this host should be, once the whole target has been observed and found fit to be planned.

    Raises PyinfraError with every refusal on every host: then nothing is written anywhere.
    """
    roster = _roster(host)
    if host.name not in roster.enrolled:
        raise PyinfraError(f"{host.name}: expected a spark that the roster enrols, found none of that name")
    with _LOCK:
        outcome = _PLANS.get(host.state)
        if outcome is None:
            outcome = _PLANS[host.state] = _planned(host.state, roster)
    if isinstance(outcome, Refusals):
        raise PyinfraError("refused, nothing was written\n" + "\n".join(map(str, outcome.refusals)))
    return roster.desired_for(host.name)


def _roster(host: Host) -> Roster:
    try:
        return roster_for(host)
    except RosterError as error:
        raise PyinfraError(str(error)) from error


def _planned(state: State, roster: Roster) -> Plan | Refusals:
    hosts = list(state.inventory.get_active_hosts())
    unknown = sorted(each.name for each in hosts if each.name not in roster.enrolled)
    if unknown:
        raise PyinfraError(f"{', '.join(unknown)}: expected only sparks that the roster enrols, found these")
    if any(each.data.get("roster") != hosts[0].data.get("roster") for each in hosts):
        raise PyinfraError("roster: expected one for all hosts of a run, found several; it is the site's, not a host's")
    looking = {each.name: gevent.spawn(_observed, each, roster.desired_for(each.name)) for each in hosts}
    gevent.joinall(list(looking.values()), raise_error=True)
    outcome = plan(roster, {name: greenlet.get() for name, greenlet in looking.items()})
    if isinstance(outcome, Plan):
        _show(outcome)
    return outcome


def _observed(host: Host, desired: DesiredSpark) -> Any:
    looks = looks_for(desired)
    watch(host, *looks.values())
    return observation(host, host.name, looks)


def _show(outcome: Plan) -> None:
    for each in outcome.hosts:
        if not each.steps:
            logger.info(f"--> {each.host} is as desired")
        for step in each.steps:
            logger.info("--> " + _DIGEST.sub(r"\1…", str(step)))
        for note in each.notes:
            logger.info(f"--> {note}")
