"""The locks of a trial: all of them, or the name of whoever has one; and none of it beside another trial."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.drain import Drain, End
from fleet.kernel.files import InstalledKernels, KernelFiles
from fleet.kernel.trial_plan import TrialPlan
from fleet.observation import Observation
from fleet.plan import Refusals
from fleet.refusal import Refusal
from fleet.target import Target
from lab.command import Refused
from lab.kernel import boots, hold, look
from tests.fleet.kernel.menus import NEW, OLD, selector
from tests.fleet.kernel.test_standing import WHOLE
from tests.fleet.kernel.test_trial_beside import ROSTER, spark
from tests.fleet.test_lock import state

NO = Refusal(code="locked", subject="b lock", expected="no other run on this host", found="one of ada@desk")
A = Target(name="a", kind="spark", hosts=("a",))


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is held; b is another's, and d does not answer."""
    found: list[str] = []

    @contextmanager
    def connected(inventory: str, *names: str) -> Iterator[list[Any]]:
        if "d" in names:
            raise Refused.of(NO)
        yield [SimpleNamespace(name=name) for name in names]
        found.clear()

    def take(host: Any) -> Refusal | None:
        found.append(host.name)
        return NO if host.name == "b" else None

    for module in (hold, boots):
        monkeypatch.setattr(module, "connected", connected)
    monkeypatch.setattr(hold, "take", take)
    return found


def test_all_are_held_until_the_end(taken: list[str]) -> None:
    with hold.held("x", ("a", "c")) as refused:
        assert (refused, taken) == ((), ["a", "c"])
    assert taken == []
    with hold.held("x", ()) as refused:
        assert refused == ()


@pytest.mark.parametrize("hosts", [("a", "b", "c"), ("a", "d")])
def test_one_that_is_anothers_or_silent_is_told_by_name(taken: list[str], hosts: tuple[str, ...]) -> None:
    with hold.held("x", hosts) as refused:
        assert refused == (NO,)
        assert "c" not in taken
    assert taken == []


@pytest.mark.parametrize(("host", "refused"), [("a", ()), ("b", (NO,))])
def test_a_spark_is_held_while_it_is_drained(
    taken: list[str], monkeypatch: pytest.MonkeyPatch, host: str, refused: tuple[Refusal, ...]
) -> None:
    def drained(host: Any, *_: Any) -> Drain:
        assert taken == ["a"]
        return Drain(host="a", end=End.NOTHING)

    monkeypatch.setattr(boots, "drained", drained)
    monkeypatch.setattr(boots, "say_drain", lambda *_: None)
    trial: Any = SimpleNamespace(host=host)
    nothing: Any = None
    assert boots.Boots("x", trial, nothing, nothing, 1).drained(1, 1) == refused


def planned(monkeypatch: pytest.MonkeyPatch, **seen: Observation) -> TrialPlan | Refusals:
    monkeypatch.setattr(look, "roster_of", lambda _: ROSTER)
    monkeypatch.setattr(look, "_not_as_desired", lambda *_: iter(()))
    monkeypatch.setattr(look, "collect", lambda _, names, looks: {
        name: seen.get(name, spark()).replaced(host=name) for name in names
    })  # fmt: skip
    return look.planned("x", A)


def test_a_trial_begins_beside_a_spark_at_rest_and_beside_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tuple(KernelFiles(release=each, **WHOLE) for each in (OLD, NEW))
    ready = spark(kernels=InstalledKernels(kernels=whole))
    plan = planned(monkeypatch, a=ready)
    assert isinstance(plan, TrialPlan), plan
    assert [each.host for each in plan.hosts] == ["a"]
    for busy in (spark(selector(NEW)), spark().replaced(lock=state())):
        found = planned(monkeypatch, a=ready, b=busy)
        assert isinstance(found, Refusals)
        assert {each.subject.split(" ")[0] for each in found.refusals} == {"b"}
