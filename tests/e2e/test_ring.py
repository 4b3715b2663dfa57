"""A ring of four: converged from blank in one run, a pulled cable named at both its ends, and the power cut to all."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fleet.rail import Segment
from lab.site import read_roster
from tests.e2e.control import ROOT, Run, fingerprint, on, pyinfra, sparks
from tests.e2e.ring import FABRIC, INVENTORY, SPARKS

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.ring, pytest.mark.nightly, pytest.mark.timeout(3600)]

DRY_CHANNELS = 1
RUN_CHANNELS = 2
"""Exec channels to each host that a run without changes opens: one to prepare, and one more to execute."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ring") / "trace.jsonl"


@pytest.fixture(scope="module")
def segments() -> tuple[Segment, ...]:
    roster, _ = read_roster(str(ROOT / INVENTORY))
    return roster.segments


def assert_as_desired(trace: Path) -> Run:
    """A dry run finds nothing to do, in one exec channel for each host."""
    dry = pyinfra(trace, *FABRIC, "--dry")
    assert dry.status == 0, dry.said
    assert all(f"{name} is as desired" in dry.err for name in SPARKS), dry.said
    assert set(dry.channels.values()) == {DRY_CHANNELS}, dry.channels
    assert len(dry.channels) == len(SPARKS)
    return dry


def test_the_inventory_of_another_layout_says_so(ring: "Lab", trace: Path) -> None:
    run = pyinfra(trace, "inventories/virtual.py", "deploys/fabric.py", "--dry")
    assert run.status != 0
    assert "the lab: expected layout pair, found ring4: run `sparks virtual down`" in run.err
    assert "Traceback" not in run.out + run.err


def test_a_second_run_changes_nothing(converged_ring: "Lab", trace: Path) -> None:
    before = fingerprint(converged_ring, SPARKS)
    looks = set(assert_as_desired(trace).commands)
    run = pyinfra(trace, *FABRIC, "-y")
    assert run.status == 0, run.said
    assert set(run.channels.values()) == {RUN_CHANNELS}, run.channels
    assert set(run.commands) == looks, "a second run sent a command that is no look"
    assert fingerprint(converged_ring, SPARKS) == before, "a second run wrote or restarted something"


@pytest.mark.usefixtures("converged_ring")
def test_the_map_and_each_environment_are_of_what_was_seen(trace: Path) -> None:
    drawn = sparks("map", "-i", INVENTORY, "--format", "json")
    assert drawn.returncode == 0, drawn.stdout + drawn.stderr
    found = json.loads(drawn.stdout)
    assert {each["name"]: each["state"] for each in found["sparks"]} == dict.fromkeys(SPARKS, "as desired")
    fact = pyinfra(trace, INVENTORY, "fact", "facts.transport.TransportEnvironment", "--json")
    assert fact.status == 0, fact.said
    (by_host,) = json.loads(fact.out).values()
    for name in SPARKS[:2]:
        env = sparks("env", name, "-i", INVENTORY, "--json")
        assert env.returncode == 0, env.stdout + env.stderr
        assert json.loads(env.stdout) == by_host[name]
    assert by_host[SPARKS[0]]["NCCL_ALGO"] == "Ring"
    assert all(each["NCCL_IB_HCA"].count("rocep1s0f0:1") == 1 for each in by_host.values())


def test_a_pulled_cable_is_named_by_its_rails_and_both_their_ends(
    converged_ring: "Lab", trace: Path, segments: tuple[Segment, ...]
) -> None:
    cut = [each for each in segments if {end.spark for end in each.ends} == set(SPARKS[1:3])]
    whole = [each for each in segments if each not in cut]
    assert len(cut) == 2
    converged_ring.set_cable(SPARKS[1], "f1", up=False)
    dry = pyinfra(trace, *FABRIC, "--dry")
    assert dry.status == 1, dry.said
    for segment in cut:
        for one, other in (segment.ends, segment.ends[::-1]):
            line = f"{one}: expected a live cable on rail {segment.rail} ({one} - {other}), found no carrier"
            assert line in dry.err, dry.said
    assert not any(f"rail {segment.rail} " in dry.err for segment in whole), dry.said
    pings = sparks("pings", "-i", INVENTORY)
    assert pings.returncode == 1, pings.stdout + pings.stderr
    for segment in cut:
        for one, other in (segment.ends, segment.ends[::-1]):
            assert f"rail {segment.rail} ({one} -> {other}): expected an answer, found" in pings.stdout
    for segment in whole:
        for one, other in (segment.ends, segment.ends[::-1]):
            assert f"rail {segment.rail} ({one} -> {other}): answers at MTU 9000" in pings.stdout
    converged_ring.set_cable(SPARKS[1], "f1", up=True)
    assert_as_desired(trace)


def test_nothing_is_pending_after_the_power_went_for_all(converged_ring: "Lab", trace: Path) -> None:
    boots = [on(converged_ring, name, "cat /proc/sys/kernel/random/boot_id") for name in SPARKS]
    converged_ring.power_cycle(*SPARKS)
    assert boots != [on(converged_ring, name, "cat /proc/sys/kernel/random/boot_id") for name in SPARKS]
    assert_as_desired(trace)
