"""The gate waits for a command that a dead run of one's own has left at work, and for nothing else."""

from types import SimpleNamespace
from typing import Any

import gevent
import pyinfra
import pytest

from fleet.lock import LockState, Taker
from fleet.observation import Observation
from operations import lock
from operations.lock_script import WAIT_SECONDS
from tests.fleet.test_lock import seen, state

ENDING = state(holder_lives=False, at_work=True, taker=Taker.SAME_OWNER)
LEFT = state(holder_lives=False, taker=Taker.SAME_OWNER)
LIVES = state(at_work=True, taker=Taker.SAME_OWNER)
FOREIGN = state(holder_lives=False, at_work=True, taker=Taker.ANOTHER)
FREE = state(held=None, holder_lives=None)


class Looked:
    """A host that is in one state after the other, and in the last one for ever; its time is not ours."""

    def __init__(self, states: tuple[LockState, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        self.host: Any = SimpleNamespace(print_prefix="[a] ", connector_data={}, state=object())
        self.states, self.looks, self.slept = states, 0, 0.0
        monkeypatch.setattr(lock, "look_again", lambda host: None)
        monkeypatch.setattr(lock, "_release_at_the_end", lambda state: None)
        monkeypatch.setattr(gevent, "sleep", self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.slept += seconds

    def look(self) -> Observation:
        self.looks += 1
        return seen(self.states[min(self.looks, len(self.states)) - 1])

    def at_rest(self) -> LockState:
        found = lock.at_rest(self.host, self.look).lock
        assert isinstance(found, LockState)
        return found


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(pyinfra.logger, "warning", lines.append)
    return lines


def test_it_waits_until_that_command_has_ended_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    looked = Looked((ENDING, ENDING, ENDING, LEFT), monkeypatch)
    assert looked.at_rest() == LEFT
    assert (looked.looks, len(said)) == (4, 1)
    assert "waits for the last command of" in said[0]
    assert lock._LEFT in looked.host.connector_data, "what is left of the lock goes at the end of this run"


@pytest.mark.parametrize("found", [LEFT, LIVES, FOREIGN, FREE])
def test_it_waits_for_nothing_else(found: LockState, monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    looked = Looked((found,), monkeypatch)
    assert looked.at_rest() == found
    assert (looked.looks, looked.slept, said) == (1, 0.0, [])
    assert (lock._LEFT in looked.host.connector_data) == (found is LEFT)


def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    looked = Looked((ENDING,), monkeypatch)
    assert looked.at_rest() == ENDING, "what the planner then refuses"
    assert looked.slept == WAIT_SECONDS
