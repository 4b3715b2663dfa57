"""A trial of several Sparks: what it does to which, in which order, and what its receipt says; hosts are played."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fleet.health import Finding, Verdict
from fleet.kernel.trial import Entry, First, Phase, Standing
from fleet.kernel.trial_plan import TrialPlan, host_trial
from fleet.outcome import Outcome
from fleet.receipt.events import Opening
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.target import Target
from lab.interrupt import Interrupted, interruptible
from lab.kernel import run
from lab.kernel.run import Trial, Wish
from lab.receipts.journal import opened
from tests.fleet.test_roster import GOOD

OLD, NEW = "6.17.0-1031-nvidia", "7.0.0-1019-nvidia-64k"
KERNEL = {"release": NEW, "packages": {f"linux-image-{NEW}": "7.0.0-1019.19"}, "fallback": OLD}
SPARKS = {name: {"enrolled": True, "kernel": "new"} for name in "abc"}
ROSTER = Roster.read({**GOOD, "sparks": SPARKS, "kernels": {"new": KERNEL}}, "test")
NO = Refusal(code="locked", subject="a lock", expected="no other run on this host", found="one")


class World:
    """Three Sparks: what happens to each, and what was done to them."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.undrained, self.ill, self.unpersisted, self.stuck = set[str](), set[str](), set[str](), set[str]()
        self.refuses: dict[str, Refusal] = {}
        self.boots: dict[str, str | None] = {}
        """By Spark, the kernel that it comes back with from a one-shot; None: not at all."""
        self.running = dict.fromkeys("abc", OLD)
        self.boot = dict.fromkeys("abc", 0)
        self.locked: list[set[str]] = []
        """What this run holds now."""
        self.others: dict[str, Refusal] = {}
        """By Spark, why its lock is not to be had."""

    def did(self, host: str, what: str) -> None:
        self.done.append((host, what))

    def stood(self, inventory: str, host: str) -> Standing:
        return Standing(host=host, running=self.running[host], boot_id=f"boot {self.boot[host]}", default=OLD,
                        is_pinned=True, one_shot=None, entries=())  # fmt: skip

    @contextmanager
    def held(self, inventory: str, hosts: Sequence[str]) -> Iterator[tuple[Refusal, ...]]:
        self.locked += [set(hosts)]
        yield tuple(self.others[host] for host in hosts if host in self.others)
        self.locked.remove(set(hosts))

    def settled(self, inventory: str, desired: Any, seconds: float) -> tuple[Finding, ...]:
        self.did(desired.name, "qualify")
        assert {desired.name} in self.locked, "nobody else may qualify it"
        verdict = Verdict.DIFFERS if desired.name in self.ill else Verdict.OK
        return (
            Finding(code="trial_gpu", subject=f"{desired.name} gpu", verdict=verdict, expected="an answer", found="x"),
        )

    def persist(self, inventory: str, trial: Any, journal: Any, stop: Any) -> tuple[Refusal, ...]:
        self.did(trial.host, "persist")
        return (NO,) if trial.host in self.unpersisted else ()

    def came(self, host: str, release: str | None) -> tuple[str, str | None]:
        before = f"boot {self.boot[host]}"
        if release is None:
            return before, None
        if host not in self.stuck:
            self.boot[host] += 1
            self.running[host] = release
        return before, f"boot {self.boot[host]}"


class Boots:
    """Stands in for the boots of one Spark."""

    world: World

    def __init__(self, inventory: str, trial: Any, journal: Any, stop: Any, seconds: float) -> None:
        self.host = trial.host

    def drained(self, quiet: float, seconds: float) -> tuple[Refusal, ...]:
        self.world.did(self.host, "drain")
        return (NO,) if self.host in self.world.undrained else ()

    def once(self) -> tuple[str, str | None] | Refusal:
        self.world.did(self.host, "boot once")
        return self.world.refuses.get(self.host) or self.world.came(self.host, self.world.boots.get(self.host, NEW))

    def back(self) -> tuple[str, str | None] | Refusal:
        self.world.did(self.host, "boot default")
        return self.world.came(self.host, OLD)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    played = World()
    monkeypatch.setattr(Boots, "world", played, raising=False)
    monkeypatch.setattr(run, "Boots", Boots)
    monkeypatch.setattr(run, "held", played.held)
    for name in ("stood", "settled", "persist"):
        monkeypatch.setattr(run, name, getattr(played, name))
    return played


def trial_plan(drains: bool = True) -> TrialPlan:
    policy = ROSTER.kernels["new"]
    entry = Entry(release=NEW, selector="1>2", parameters=(), missing="")
    stand = World()
    trials = [host_trial(ROSTER.desired_for(each), policy, stand.stood("", each), First(Phase.DRAIN, entry))
              for each in "ab"]  # fmt: skip
    target = Target(name="both", kind="cluster", hosts=("a", "b"))
    return TrialPlan(target=target, hosts=tuple(each.replaced(drains=drains) for each in trials))


def tried(folder: Path, drains: bool = True, also: Callable[[Trial], None] = lambda trial: None) -> Trial:
    """A trial to its end, whatever that is; its receipt is closed."""
    plan = trial_plan(drains)
    about = Opening(kind="trial", target="both", hosts=("a", "b"), plan=plan.digest)
    with opened(folder, about) as journal, interruptible() as stop:
        trial = Trial("site.py", ROSTER, plan, journal, stop, Wish(1, 1, 1, 1))
        also(trial)
        found = trial.run()
        journal.close(found.outcome, found.reason, found.refusals)
    return trial


def events(folder: Path) -> list[dict[str, Any]]:
    (receipt,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in receipt.read_text().splitlines()]


def outcome(folder: Path) -> str:
    return str(events(folder)[-1]["data"]["outcome"])


def test_one_spark_after_the_other_and_each_to_its_end(world: World, tmp_path: Path) -> None:
    tried(tmp_path)
    each = ["drain", "boot once", "qualify", "persist"]
    assert world.done == [("a", what) for what in each] + [("b", what) for what in each]
    assert outcome(tmp_path) == Outcome.CONVERGED
    said = [(line["data"]["host"], line["data"]["operation"]) for line in events(tmp_path)
            if line["event"] == "operation_done"]  # fmt: skip
    assert said == [(host, phase) for host in "ab" for phase in ("drain", "one-shot boot", "qualify", "persist")]


def test_a_spark_that_serves_nothing_is_not_drained(world: World, tmp_path: Path) -> None:
    tried(tmp_path, drains=False)
    assert ("a", "drain") not in world.done
    assert outcome(tmp_path) == Outcome.CONVERGED


@pytest.mark.parametrize(
    ("fault", "done", "end"),
    [
        ({"undrained": {"a"}}, ["drain"], Phase.KEPT),
        ({"refuses": {"a": NO}}, ["drain", "boot once"], Phase.KEPT),
        ({"stuck": {"a"}}, ["drain", "boot once"], Phase.KEPT),
        ({"boots": {"a": OLD}}, ["drain", "boot once"], Phase.RETURNED),
        ({"boots": {"a": None}}, ["drain", "boot once"], Phase.LOST),
        ({"ill": {"a"}}, ["drain", "boot once", "qualify", "boot default"], Phase.RETURNED),
        ({"unpersisted": {"a"}}, ["drain", "boot once", "qualify", "persist"], Phase.TRIED),
    ],
)
def test_what_goes_wrong_ends_there_and_no_other_spark_is_touched(
    world: World, tmp_path: Path, fault: dict[str, Any], done: list[str], end: Phase
) -> None:
    vars(world).update(fault)
    trial = tried(tmp_path)
    assert world.done == [("a", what) for what in done]
    assert [(each.host, each.phase) for each in trial.ends] == [("a", end)]
    assert outcome(tmp_path) == Outcome.FAILED
    assert events(tmp_path)[-1]["data"]["reason"] == trial.ends[-1].says


def test_the_first_spark_keeps_what_it_has_when_the_second_fails(world: World, tmp_path: Path) -> None:
    world.ill = {"b"}
    trial = tried(tmp_path)
    assert {each.host: each.phase for each in trial.ends} == {"a": Phase.PERSISTED, "b": Phase.RETURNED}
    assert (world.running["a"], world.running["b"]) == (NEW, OLD)
    health = [line["data"] for line in events(tmp_path) if line["event"] == "health"]
    assert [each["host"] for each in health] == ["a", "b"]


@pytest.mark.parametrize(
    ("at", "phase"), [("drain", Phase.DRAIN), ("boot once", Phase.BOOT), ("qualify", Phase.QUALIFY)]
)
def test_interrupted_it_says_where_it_stands_and_does_nothing_more(
    world: World, tmp_path: Path, at: str, phase: Phase
) -> None:
    kept: list[Trial] = []

    def stops(host: str, what: str) -> None:
        world.done.append((host, what))
        if what == at:
            raise Interrupted("SIGINT", at_once=False)

    world.did = stops  # type: ignore[method-assign]
    with pytest.raises(Interrupted):
        tried(tmp_path, also=kept.append)
    assert world.done[-1] == ("a", at)
    assert [(each.host, each.phase) for each in kept[0].ends] == [("a", phase)]
    assert outcome(tmp_path) == Outcome.INTERRUPTED
    assert world.running["a"] == (NEW if at == "qualify" else OLD)


def in_one_cluster() -> Roster:
    return ROSTER.replaced(clusters={"both": {"fabric": "rails", "sparks": ("a", "b")}})


def test_while_one_is_tried_nobody_else_may_change_those_that_serve_together_with_it(
    world: World, tmp_path: Path
) -> None:
    held: list[tuple[str, str, list[set[str]]]] = []

    def notes(host: str, what: str) -> None:
        held.append((host, what, list(world.locked)))

    world.did = notes  # type: ignore[method-assign]
    tried(tmp_path, also=lambda trial: setattr(trial, "roster", in_one_cluster()))
    assert {host for host, _, _ in held} == {"a", "b"}
    assert all(({"b"} if host == "a" else {"a"}) in locked for host, _, locked in held)
    assert world.locked == []


def test_where_another_holds_one_of_them_nothing_is_done(world: World, tmp_path: Path) -> None:
    world.others = {"b": NO}
    trial = tried(tmp_path, also=lambda trial: setattr(trial, "roster", in_one_cluster()))
    assert world.done == []
    assert [(each.host, each.phase) for each in trial.ends] == [("a", Phase.KEPT)]
    assert events(tmp_path)[-1]["data"]["refusals"][0]["code"] == "locked"


def test_a_kernel_that_another_run_qualifies_is_not_booted_back(world: World, tmp_path: Path) -> None:
    world.others = {"a": NO}
    trial = tried(tmp_path)
    assert world.done == [("a", "drain"), ("a", "boot once")]
    assert [(each.host, each.phase) for each in trial.ends] == [("a", Phase.TRIED)]
