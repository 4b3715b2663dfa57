"""Take the lock of a host before the first change, and free the host when the run leaves it.

The lock is taken where something is due and not before, and what is due is decided again once it is held: two runs
may have decided from the same state. pyinfra skips what is left of the operations on a host that failed, so the lock
is released by what it calls for every host at the end of every run, interrupted ones too.
"""

import secrets
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import gevent
from pyinfra import logger
from pyinfra.api import Host, State
from pyinfra.api.state import BaseStateCallback

from facts.bundle import Wanted
from facts.controller import controller
from facts.lock import HostLock
from facts.needs import observation
from facts.observe import look_again
from fleet.lock import Lock, LockState
from fleet.locked import is_ending, is_left, lock_refusal
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step
from operations.acting import Call, complain, say
from operations.answer import Answer, ask
from operations.approved import approved_for, not_approved
from operations.lock_script import RELEASE_SECONDS, WAIT_SECONDS, release_script, take_script, unlock_script

T = TypeVar("T")

ANSWER_SECONDS = 30
"""For the host's answer, besides what it waits for."""
PAUSE_SECONDS = 2.0
"""Between two looks at a host where a command of a dead run is at work."""
NOT_AS_SEEN = "expected no other run on this host"
"""How `remote/lock.sh` begins to say that the lock is another than the one that was looked at."""
SILENT = "no answer"
"""Then it may have been taken, and the run have begun: that is a failure, and no refusal that has written nothing."""

_KEY, _LEFT = "sparks lock", "sparks lock left"
_BEGINNING: WeakKeyDictionary[State, Callable[[Host], str]] = WeakKeyDictionary()


@dataclass
class _Held:
    """The lock of a host as this run has it."""

    token: str
    connector: Any = None
    """The connection that holds it; None while there is none."""


def under_lock(host: Host, decide: Callable[[], T]) -> Generator[Call, None, T]:
    """What is decided; where a step is, the lock is taken first and it is decided again from a fresh look.

    For what may not be carried out it is not taken: who carries steps out refuses those.
    Fails the host where the lock is another's. Nothing crosses the network where the run holds it already.
    """
    outcome = decide()
    steps = _due(outcome)
    if not steps or _is_held(host) or not_approved(host, steps):
        return outcome
    yield Call("take the lock", _take)
    return decide()


def begin_with(state: State, script: Callable[[Host], str]) -> None:
    """What a run says on a host in the breath in which it takes the lock: its first change.

    + script: makes the POSIX script for a host; an empty one does nothing
    """
    _BEGINNING[state] = script


def take(host: Host) -> Refusal | None:
    """Take the lock now, for as long as the host is connected; or why it cannot be."""
    held: _Held = host.connector_data.setdefault(_KEY, _Held(secrets.token_hex(8)))
    _release_at_the_end(host.state)
    refusal = _taken(host, held)
    look_again(host)
    return refusal


def at_rest(host: Host, look: Callable[[], Observation]) -> Observation:
    """The host, looked at once nothing is at work there that a dead run of our own has left.

    A command outlives the controller that is killed, and what it is about to change is no state to plan from. What such
    a run has left of its lock goes at the end of this one, also where that finds nothing to do.
    """
    seen = look()
    waited = 0.0
    while isinstance(seen.lock, LockState) and is_ending(seen.lock) and waited < WAIT_SECONDS:
        if not waited:
            logger.warning(f"{host.print_prefix}waits for the last command of {seen.lock.held}, which is gone")
        gevent.sleep(PAUSE_SECONDS)
        waited += PAUSE_SECONDS
        look_again(host)
        seen = look()
    if isinstance(seen.lock, LockState) and is_left(seen.lock):
        host.connector_data[_LEFT] = seen.lock.held
        _release_at_the_end(host.state)
    return seen


def hold_again(host: Host) -> None:
    """After a reconnect: the new connection holds what the old one held. Where it cannot, the next change is refused by
    its first line."""
    held = _held(host)
    if held is not None and not _is_held(host):
        _ask_to_take(host, held, None)


def forgotten(host: Host) -> None:
    """The host was told to reboot: the lock goes with the memory that it lies in, and nothing is to be released."""
    host.connector_data.pop(_KEY, None)
    host.connector_data.pop(_LEFT, None)


def _due(outcome: object) -> tuple[Step, ...]:
    outcomes = outcome if isinstance(outcome, Iterable) and not isinstance(outcome, Step) else (outcome,)
    found = tuple(outcomes)
    refused = any(isinstance(each, Refusal) for each in found)
    return () if refused else tuple(each for each in found if isinstance(each, Step))


def _held(host: Host) -> _Held | None:
    held: _Held | None = host.connector_data.get(_KEY)
    return held


def _is_held(host: Host) -> bool:
    held = _held(host)
    return held is not None and held.connector is host.connector


def _take(state: State, host: Host) -> bool:
    refusal = take(host)
    if refusal is not None and refusal.found == SILENT:
        complain(host, (refusal,))
        return False
    return refusal is None or say(state, host, (refusal,))


def _taken(host: Host, held: _Held, tries: int = 2) -> Refusal | None:
    """Take what may be taken as it was seen; where it has changed since, look once more."""
    seen = observation(host, host.name, {"lock": Wanted(HostLock)})
    refusal = lock_refusal(host.name, seen)
    if refusal is not None:
        return refusal
    answer = _ask_to_take(host, held, known(seen.lock).held)
    if answer is not None and answer.is_ok:
        return None
    if answer is not None and answer.error.startswith(NOT_AS_SEEN) and tries > 1:
        look_again(host)
        return _taken(host, held, tries - 1)
    return _not_taken(host, SILENT if answer is None else answer.error)


def _ask_to_take(host: Host, held: _Held, over: Lock | None) -> Answer | None:
    script = take_script(held.token, _plan(host), controller(), over)
    if held.connector is None and (beginning := _BEGINNING.get(host.state)) is not None:
        script += beginning(host)
    answer = ask(host, script, WAIT_SECONDS + ANSWER_SECONDS)
    if answer is not None and answer.is_ok:
        held.connector = host.connector
        if answer.out[-1:] == ("over",) and over is not None:
            logger.warning(f"{host.print_prefix}took over the lock of an earlier run of yours, {over}; it is gone")
    return answer


def _not_taken(host: Host, error: str) -> Refusal:
    expected, _, found = error.removeprefix("expected ").rpartition(", found ")
    return Refusal(code="lock_not_taken", subject=f"{host.name} lock", expected=expected or "it taken", found=found)


def _plan(host: Host) -> str | None:
    """The plan that was approved for the host."""
    approved = approved_for(host)
    return None if approved is None else approved.approval.plan_digest


def _release_at_the_end(state: State) -> None:
    if not any(isinstance(each, _AtTheEnd) for each in state.callback_handlers):
        state.add_callback_handler(_AtTheEnd())


class _AtTheEnd(BaseStateCallback):
    """pyinfra leaves every host it came to at the end of a run, however that ends, but for SIGKILL."""

    @staticmethod
    def host_disconnect(state: State, host: Host) -> None:
        """Frees the host where this run holds it, or where a dead one of our own did; says so where it could not."""
        held, left = host.connector_data.pop(_KEY, None), host.connector_data.pop(_LEFT, None)
        if held is not None:
            script = release_script(held.token)
        elif left is not None and state.is_executing:
            script = unlock_script(left)
        else:
            return
        answer = ask(host, script, RELEASE_SECONDS + ANSWER_SECONDS)
        if answer is None or not answer.is_ok:
            found = SILENT if answer is None else answer.error
            logger.warning(f"{host.print_prefix}its lock was not released ({found}); your next run takes it over")
