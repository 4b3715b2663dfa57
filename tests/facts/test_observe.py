"""An observation is reused inside a phase until something ran, and never across phases."""

from types import SimpleNamespace
from typing import Any

import pytest

from facts.bundle import Wanted
from facts.kernel import Kernel
from facts.memory import Memory
from facts.network import Links
from facts.observe import forget, observe, settle, watch
from fleet.record import Unobserved

ONE, TWO, THREE = Wanted(Kernel), Wanted(Links), Wanted(Memory)


class FakeHost:
    """Counts round trips; stands in for pyinfra's Host, of which `observe` uses no more than this."""

    def __init__(self) -> None:
        self.name = "fake"
        self.connector_data: dict[str, Any] = {}
        self.state = SimpleNamespace(is_executing=False, ops={self: {}})
        self.asked: list[set[str]] = []
        self.answers = True

    def get_fact(self, _: Any, facts: tuple[Wanted, ...], **__: Any) -> dict[str, str] | None:
        self.asked.append({look.name for look in facts})
        return {look.name: f"{look.name} {len(self.asked)}" for look in facts} if self.answers else None

    def operation_ran(self, executed: bool) -> None:
        meta = SimpleNamespace(executed=executed)
        self.state.ops[self][str(len(self.state.ops[self]))] = SimpleNamespace(operation_meta=meta)


@pytest.fixture
def host() -> Any:
    return FakeHost()


def test_everything_watched_comes_with_the_first_look_and_is_reused(host: Any) -> None:
    watch(host, ONE, TWO, THREE)
    first = observe(host, ONE)
    assert observe(host, ONE) == first
    observe(host, TWO, THREE)
    assert host.asked == [{ONE.name, TWO.name, THREE.name}]


def test_no_observation_crosses_phases(host: Any) -> None:
    watch(host, ONE, TWO)
    before = observe(host, ONE)
    host.state.is_executing = True
    assert observe(host, ONE) != before
    assert len(host.asked) == 2
    assert host.asked[1] == {ONE.name, TWO.name}


def test_after_a_write_only_what_is_asked_for_is_looked_at_again(host: Any) -> None:
    watch(host, ONE, TWO)
    host.state.is_executing = True
    observe(host, ONE)
    forget(host)
    observe(host, ONE)
    assert host.asked[1:] == [{ONE.name}]


def test_while_commands_are_only_collected_nothing_is_written_and_so_nothing_forgotten(host: Any) -> None:
    observe(host, ONE)
    forget(host)
    observe(host, ONE)
    assert len(host.asked) == 1


def test_anybodys_operation_that_ran_makes_it_old_and_a_noop_does_not(host: Any) -> None:
    observe(host, ONE)
    host.operation_ran(executed=False)
    observe(host, ONE)
    assert len(host.asked) == 1
    host.operation_ran(executed=True)
    observe(host, ONE)
    assert len(host.asked) == 2


def test_an_operation_that_looked_after_its_last_command_is_settled(host: Any) -> None:
    host.state.is_executing = True
    observe(host, ONE)
    forget(host)
    observe(host, ONE)
    settle(host)
    host.operation_ran(executed=True)
    observe(host, ONE)
    assert len(host.asked) == 2


def test_a_host_that_does_not_answer_is_unobserved(host: Any) -> None:
    host.answers = False
    (value,) = observe(host, ONE).values()
    assert isinstance(value, Unobserved)
