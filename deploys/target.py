"""The start and the end of every deploy: what each host should be, whether the run may touch any, and its plans."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import gevent
from gevent.lock import BoundedSemaphore
from pyinfra.api import Host, State
from pyinfra.api.exceptions import PyinfraError

from deploys.approve import approve_named
from deploys.commands import declared
from deploys.maker import maker, versions
from deploys.show import show_digests, show_steps
from facts.desired import admission_for, drained_for, roster_for
from facts.needs import looks_for, observation
from facts.observe import watch
from fleet.agreement import disagreements
from fleet.beside import Beside, beside
from fleet.desired import DesiredSpark
from fleet.fit.admission import Admission
from fleet.generation import Begun
from fleet.instant import utc_now
from fleet.observation import Observation
from fleet.ollama.disrupt import Drained
from fleet.ollama.steps import InstallProgram, RetireOllama
from fleet.plan import Plan, Refusals, plan
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.roster_error import RosterError
from fleet.target import Scope, Target, targets_within
from operations.approved import approved_for, bind
from operations.generation import begin
from operations.lock import at_rest, begin_with
from operations.ollama_program import missing

_LOCK = BoundedSemaphore()


@dataclass
class Run:
    """What a run found out about all of its hosts, and the plans that it could carry out."""

    roster: Roster
    scope: Scope
    collection: dict[str, Observation]
    drained: Drained
    """Digests of the serving processes that were drained."""
    admission: Admission
    """What is known to have fitted, and what shall be tried for the first time."""
    observed_at: str
    refusals: tuple[Refusal, ...] = ()
    plans: tuple[Plan, ...] = ()
    """One for each target that lies wholly in the run, once every host has come to the end of the deploy."""
    began: dict[str, int] = field(default_factory=dict)
    """By host, how many operations there were before the deploy's first."""
    ended: set[str] = field(default_factory=set)


_RUNS: WeakKeyDictionary[State, Run] = WeakKeyDictionary()


def desired_state(host: Host, scope: Scope) -> DesiredSpark:
    """What this host should be, once every host of the run has been observed and found fit to be planned.

    + scope: how much of it the deploy makes; one that is included by another is a part of that one's plan

    From then on nothing is carried out but what is approved. Raises PyinfraError with every refusal on every host: then
    nothing is written anywhere.
    """
    roster = _roster(host)
    if host.name not in roster.enrolled:
        raise PyinfraError(f"{host.name}: expected a spark that the roster enrols, found none of that name")
    with _LOCK:
        run = _RUNS.get(host.state)
        if run is None:
            run = _RUNS[host.state] = _begin(host.state, roster, scope)
    if not run.scope.includes(scope) or host.name in run.ended:
        raise PyinfraError("expected one deploy in a run, since serve.py makes the fabric too, found several")
    if run.refusals:
        raise PyinfraError("refused, nothing was written\n" + "\n".join(map(str, run.refusals)))
    run.began.setdefault(host.name, len(host.op_hash_order))
    return roster.desired_for(host.name)


def is_whole(host: Host, scope: Scope) -> bool:
    """Is this scope what the run is about, and no part of a wider one?"""
    return _RUNS[host.state].scope is scope


def complete(host: Host) -> None:
    """The last line of a deploy that is no part of another: once all hosts are there, the plans of the run stand, and
    what was named for approval is held against them.

    Raises PyinfraError where the run would write something that nobody approved.
    """
    run = _RUNS[host.state]
    run.ended.add(host.name)
    if run.ended == set(run.collection):
        run.plans = _plans(host.state, run)
        show_digests(run.plans)
        approve_named(host.state, run.plans)


def applied_to(host: Host) -> Begun | None:
    """The plan that this run carries out on this host, as a stamp names it; None where nothing is due here."""
    approved = approved_for(host)
    if approved is None or not approved.plan.host(host.name).steps:
        return None
    desired, plan = _RUNS[host.state].roster.desired_for(host.name), approved.plan
    return Begun(plan=plan.digest, desired=desired.digest, scope=plan.scope, at=approved.approval.approved_at)


def beside_of(host: Host) -> Beside:
    """What the other hosts of the run mean to this one, as they were when it began."""
    run = _RUNS[host.state]
    return beside(run.roster, host.name, run.collection)


def hands_over(host: Host) -> bool:
    """Does the run stop elsewhere what this host serves now, once it answers here?"""
    run = _RUNS[host.state]
    left = [each for each in run.collection if _moved_to(run.roster.desired_for(each)) == host.name]
    approved = [(each, approved_for(host.state.inventory.get_host(each))) for each in left]
    steps = [step for name, given in approved if given for step in given.plan.host(name).steps]
    return any(isinstance(step, RetireOllama) for step in steps)


def _moved_to(desired: DesiredSpark) -> str | None:
    return desired.retirement.moved_to if desired.retirement and not desired.stops_first else None


def _marked(host: Host) -> str:
    """The mark of a run that begins to act: one that is cut off is brought to its end, and stamped, by the next."""
    applied = applied_to(host)
    return "" if applied is None else begin(applied)


def run_of(state: State) -> Run | None:
    """What the deploy of a run found out; None before its first line."""
    return _RUNS.get(state)


def _roster(host: Host) -> Roster:
    try:
        return roster_for(host)
    except RosterError as error:
        raise PyinfraError(str(error)) from error


def _admission(host: Host) -> Admission:
    """One for all hosts: it is the site's, and the command line's."""
    try:
        return admission_for(host)
    except RosterError as error:
        raise PyinfraError(str(error)) from error


def _begin(state: State, roster: Roster, scope: Scope) -> Run:
    hosts = list(state.inventory.get_active_hosts())
    unknown = sorted(each.name for each in hosts if each.name not in roster.enrolled)
    if unknown:
        raise PyinfraError(f"{', '.join(unknown)}: expected only sparks that the roster enrols, found these")
    if any(each.data.get("roster") != hosts[0].data.get("roster") for each in hosts):
        raise PyinfraError("roster: expected one for all hosts of a run, found several; it is the site's, not a host's")
    admission = _admission(hosts[0])
    bind(state, {})
    begin_with(state, _marked)
    now = f"{utc_now():%FT%TZ}"
    looking = {each.name: gevent.spawn(_observed, each, roster.desired_for(each.name), scope) for each in hosts}
    gevent.joinall(list(looking.values()), raise_error=True)
    drained = frozenset().union(*map(drained_for, hosts))
    run = Run(roster, scope, {name: greenlet.get() for name, greenlet in looking.items()}, drained, admission, now)
    outcomes = [_outcome(run, each) for each in _each_spark(run)]
    run.refusals = tuple(dict.fromkeys(no for each in outcomes for no in _refusals(each)))
    if not run.refusals:
        show_steps(each for each in outcomes if isinstance(each, Plan))
    return run


def _refusals(outcome: Plan | Refusals) -> Sequence[Refusal]:
    """Every reason on a host, and what this machine would have to send and has not."""
    if isinstance(outcome, Refusals):
        return outcome.refusals
    steps = (each for each in outcome.steps if isinstance(each, InstallProgram))
    return [refusal for step in steps if (refusal := missing(step)) is not None]


def _outcome(run: Run, target: Target) -> Plan | Refusals:
    return plan(run.roster, target, run.collection, run.scope, run.drained, run.admission)


def _each_spark(run: Run) -> Sequence[Target]:
    return [each for each in targets_within(run.roster, run.collection) if each.kind == "spark"]


def _observed(host: Host, desired: DesiredSpark, scope: Scope) -> Any:
    looks = looks_for(desired, scope)
    watch(host, *looks.values())
    return at_rest(host, lambda: observation(host, host.name, looks))


def _plans(state: State, run: Run) -> tuple[Plan, ...]:
    """The plan of every target with its exact commands, once the operations have been heard."""
    hosts = {each.name: each for each in state.inventory.get_active_hosts()}
    said = {name: declared(hosts[name], run.began[name]) for name in sorted(hosts)}
    commands = {name: {each.name: each.commands for each in found} for name, found in said.items()}
    outcomes = [_outcome(run, each) for each in targets_within(run.roster, said)]
    plans = [each for each in outcomes if isinstance(each, Plan)]
    lines = dict.fromkeys(
        line for each in plans for host in each.hosts for line in disagreements(host, said[host.host])
    )
    if lines:
        raise PyinfraError(
            "a bug in sparks: the plan and the operations disagree; nothing was written\n" + "\n".join(lines)
        )
    return tuple(each.with_commands(commands).made_by(maker(), run.observed_at, versions()) for each in plans)
