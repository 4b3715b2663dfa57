"""One run of a deploy on the hosts of a target, in this process: prepared, and perhaps carried out.

pyinfra's State goes through its stages once (3.10.0): what was done is read back in a session of its own, which also
means over fresh connections.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import gevent
import pyinfra
from pyinfra.api import Host, State
from pyinfra.api.connect import disconnect_all
from pyinfra.api.exceptions import PyinfraError
from pyinfra.api.operations import run_ops
from pyinfra.api.state import StateStage
from pyinfra_cli.util import load_deploy_file  # type: ignore[import-untyped]

import deploys
from deploys.approve import approve
from deploys.target import Run, run_of
from facts.desired import admission_for, drained_for, roster_for
from facts.needs import fit_looks, health_looks, looks_for, observation
from facts.observe import forget
from fleet.approval import Approval
from fleet.generation import Begun, Stamp
from fleet.health import Finding, health
from fleet.instant import utc_now
from fleet.lock import LockState
from fleet.locked import is_left
from fleet.observation import Observation
from fleet.plan import Plan, Refusals, plan
from fleet.record import Digest, Unobserved
from fleet.target import Scope, Target
from lab.collect import connect, observed, state_of
from lab.command import Failed
from operations.approved import Approved, Watcher

DEPLOYS = Path(str(deploys.__file__)).resolve().parent


@dataclass
class Session:
    """A target whose hosts are connected and were looked at, and its plan."""

    target: Target
    state: State
    run: Run
    plan: Plan | Refusals

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Those of the target, connected."""
        return tuple(self.state.inventory.get_active_hosts())

    def carry_out(self, approval: Approval, watcher: Watcher) -> str | None:
        """Carry the plan out, once; why it did not come to its end on every host, or None.

        Raises Refused where the approval is not for this plan, or is over. Locks are released when the session ends.
        """
        assert isinstance(self.plan, Plan)
        approved = Approved(self.plan, approval)
        try:
            approve(self.state, dict.fromkeys(self.target.hosts, approved), watcher)
        except PyinfraError as error:
            return str(error)
        return self.finish()

    @property
    def cut_off(self) -> dict[str, str]:
        """By host, the plan of a run that acted there and did not come to its end."""
        stamps = {host: seen.generation for host, seen in self.run.collection.items()}
        begun = {host: stamp.begun for host, stamp in stamps.items() if isinstance(stamp, Stamp)}
        return {host: mark.plan for host, mark in begun.items() if isinstance(mark, Begun)}

    @property
    def has_left(self) -> bool:
        """Is there anything on a host that a run of our own has left behind when it died?"""
        locks = [seen.lock for seen in self.run.collection.values()]
        return bool(self.cut_off) or any(isinstance(lock, LockState) and is_left(lock) for lock in locks)

    def finish(self) -> str | None:
        """Bring what was cut off to its end, where nothing else is due; why that failed, or None."""
        try:
            self.state.set_stage(StateStage.Execute)
            run_ops(self.state)
        except PyinfraError as error:
            return str(error)
        return None

    def measured(self, name: str) -> Observation:
        """A host that serves through every instrument that says who holds its memory, now; also one that failed."""
        host = self.state.inventory.get_host(name)
        desired = self.run.roster.desired_for(name).ollama
        assert desired is not None, "expected a host that serves"
        forget(host)
        return observation(host, name, fit_looks(desired))

    @property
    def failed(self) -> tuple[str, ...]:
        """The hosts that did not come to the end of what was begun."""
        return tuple(sorted(each.name for each in self.state.failed_hosts))

    def health(self, applied: Digest | None) -> tuple[Finding, ...]:
        """What must hold on every host at the end; it asks what is served for an answer."""
        looking = [gevent.spawn(self._health, host, applied) for host in self.hosts]
        gevent.joinall(looking, raise_error=True)
        return tuple(finding for each in looking for finding in each.get())

    def _health(self, host: Host, applied: Digest | None) -> tuple[Finding, ...]:
        desired = self.run.roster.desired_for(host.name)
        seen = observation(host, host.name, health_looks(desired, self.run.scope))
        return health(desired, seen, applied, self.run.scope)


@contextmanager
def session(inventory: str, target: Target, scope: Scope, admit_first: bool = False) -> Iterator[Session]:
    """The target, looked at and planned; its hosts are left, and their locks released, at the end.

    + admit_first: whether what it loads is admitted for a first time, without evidence that it has fitted

    Where a host does not answer there are refusals in place of a plan. Raises Failed where the deploy cannot be made.
    """
    os.environ["PYINFRA_PROGRESS"] = "off"
    pyinfra.is_cli = True
    state = state_of(inventory, target.hosts, {"admit": target.name} if admit_first else {})
    state.cwd = str(DEPLOYS.parent)
    try:
        yield _prepared(state, target, scope)
    finally:
        with suppress(PyinfraError):
            disconnect_all(state)


def _prepared(state: State, target: Target, scope: Scope) -> Session:
    state.set_stage(StateStage.Connect)
    if silent := _connect(state, target):
        return _unseen(state, target, scope, silent)
    refused = None
    try:
        state.set_stage(StateStage.Prepare)
        load_deploy_file(state, str(DEPLOYS / f"{scope}.py"))
    except PyinfraError as error:
        refused = error
    run = run_of(state)
    if run is not None and run.refusals:
        return Session(target, state, run, Refusals(refusals=run.refusals))
    if refused is not None or run is None:
        raise Failed(str(refused or "expected a plan, found none"))
    (plan,) = (each for each in run.plans if each.target == target)
    return Session(target, state, run, plan)


def _connect(state: State, target: Target) -> dict[str, Unobserved]:
    """Connect to every host at once; by name, why one cannot be observed. pyinfra's own would end the run there."""
    hosts = _hosts(state, target)
    connecting = [gevent.spawn(connect, host) for host in hosts]
    gevent.joinall(connecting, raise_error=True)
    found = {host: each.get() for host, each in zip(hosts, connecting, strict=True)}
    for host, silent in found.items():
        if silent is None:
            state.activate_host(host)
    return {host.name: silent for host, silent in found.items() if silent is not None}


def _unseen(state: State, target: Target, scope: Scope, silent: dict[str, Unobserved]) -> Session:
    """Those that answer are looked at all the same: every reason on every host is told at once."""
    hosts = _hosts(state, target)
    roster, now = roster_for(hosts[0]), f"{utc_now():%FT%TZ}"
    looks = {host: looks_for(roster.desired_for(host.name), scope) for host in hosts}
    looking = {host.name: gevent.spawn(observed, host, looks[host], silent.get(host.name)) for host in hosts}
    gevent.joinall(list(looking.values()), raise_error=True)
    drained = frozenset().union(*map(drained_for, hosts))
    admission = admission_for(hosts[0])
    run = Run(roster, scope, {name: each.get() for name, each in looking.items()}, drained, admission, now)
    outcome = plan(roster, target, run.collection, scope, drained, admission)
    assert isinstance(outcome, Refusals), "expected no plan for a host that was not observed"
    run.refusals = outcome.refusals
    return Session(target, state, run, outcome)


def _hosts(state: State, target: Target) -> list[Host]:
    return [state.inventory.get_host(name) for name in target.hosts]
