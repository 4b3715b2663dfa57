"""The plan as a document: what its digest is of, and that nothing but what it is about moves it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from fleet.kernel.running import CommandLine, Kernel
from fleet.memory import Memory
from fleet.observation import Observation, known
from fleet.ollama.service import ResidentsUnit
from fleet.plan import Plan, plan
from fleet.planned import PlannedCommand
from fleet.prestate import prestate, unseen
from fleet.record import Record, Unobserved
from fleet.roster import Roster
from fleet.step import Found, Step
from fleet.steps import AnyStep
from fleet.target import Scope, Target
from tests.fleet import observed
from tests.fleet.ollama import host as ollama_host
from tests.fleet.spelled import spelled
from tests.fleet.strategies import pair_rosters
from tests.fleet.test_roster import GOOD

ROOT = Path(__file__).resolve().parents[2]
CONTENT = {"format", "target", "scope", "desired_digest", "prestate_digest", "hosts"}
METADATA = {"made"}
VOLATILE = {
    "GuardSample.at", "GuardSample.available_bytes", "GuardSample.declared", "GuardSample.error", "GuardSample.killed",
    "GuardSample.level", "GuardSample.threshold_bytes", "MemoryGuard.age_seconds",
    "ActiveSwap.used_bytes", "Swap.available_bytes",
    "Clock.max_error_seconds", "Mounts.holders", "Sentinel.count", "Sentinel.last_seconds", "Sentinel.subjects",
    "Space.available_bytes", "Space.inodes_available",
    "UnitState.main_pid", "UnitState.oom_score",
    "CableSwitch.cable_seen", "Container.exit_code", "Container.health", "Container.pid", "Container.restarts",
    "Container.started_at", "DeviceUse.holders", "EngineMetrics.accepted_tokens", "EngineMetrics.drafted_tokens",
    "EngineMetrics.kv_use", "EngineMetrics.running", "EngineMetrics.waiting", "EngineProcess.state",
    "EngineProcesses.others_anonymous_bytes", "Firewall.filters", "Gpu.memory_free_bytes", "Gpu.memory_used_bytes",
    "Gpu.performance_state", "Gpu.power_watts", "Gpu.sm_clock_mhz", "Gpu.temperature_celsius",
    "Gpu.utilization_percent", "Kernel.uptime_seconds", "Link.carrier", "Link.ifindex", "Link.mac",
    "Link.operstate", "Link.parent_index", "Link.permanent_mac", "Link.up", "LinkAddress.deprecated",
    "LinkAddress.tentative", "LlamaCounts.accepted_tokens", "LlamaCounts.deferred", "LlamaCounts.drafted_tokens",
    "LlamaCounts.processing", "LlamaModel.failed", "LlamaModel.status", "LlamaServer.health",
    "LlamaServer.sleeping", "LockState.at_work", "LockState.boot_id", "LockState.controller_lives",
    "LockState.held", "LockState.holder_lives", "LockState.taker", "Measured.gbps", "Memory.available_bytes",
    "Memory.cma_free_bytes", "Memory.free_bytes", "Memory.hugepages_free", "Memory.swap_free_bytes",
    "NmDevice.connection", "NmDevice.detail", "NmDevice.kept_down", "NmDevice.state", "ProcessMemory.pss_bytes",
    "ProcessMemory.pss_file_bytes", "ProcessMemory.rss_bytes", "ProcessMemory.rss_file_bytes",
    "ProcessMemory.swap_bytes", "Profile.device", "Profile.state", "ProgramState.room_bytes", "Published.digests",
    "Published.missing_bytes", "Published.reason", "Published.size_bytes", "RailPing.rtt_ms",
    "Resident.context_length", "Resident.keep", "Resident.seconds_left", "Resident.size_bytes",
    "Resident.size_vram_bytes", "RoceDevice.active_mtu", "RoceDevice.phys_state", "RoceDevice.phys_state_name",
    "RoceDevice.rate_gbps", "RoceDevice.state", "RoceDevice.state_name", "RoceGid.index", "RoceGid.port_active",
    "Running.clients", "Slot.processing", "SshConnection.client", "VllmServer.healthy", "VllmServer.sleeping",
}  # fmt: skip
"""What changes by itself: a field that is added here stops a plan from being held up by it."""
SECTIONS = ("ollama_service", "ollama_models", "ollama_residency", "invocation", "generation")
SERVING: dict[str, Any] = json.loads(
    json.dumps({"spark": "a", "ollama": spelled(ollama_host.DESIRED) | {"environment": {"OLLAMA_KEEP_ALIVE": "-1"}}})
)
ROSTER = Roster.read(GOOD | {"deployments": {"chat": SERVING}}, "test")
A = Target(name="a", kind="spark", hosts=("a",))


def blank(name: str) -> Observation:
    """A Spark as it comes, with Ollama installed."""
    installed = ollama_host.service(drop_ins=(), process_environment={}, residents=ResidentsUnit())
    found = ollama_host.seen(installed, models=(), residents=())
    sections = {each: getattr(found, each) for each in SECTIONS}
    return observed.blank(name).model_copy(update=sections)


def made(seen: Observation | None = None, roster: Roster = ROSTER, target: Target = A) -> Plan:
    outcome = plan(roster, target, {host: seen or blank(host) for host in target.hosts})
    assert isinstance(outcome, Plan), outcome
    return outcome


def test_every_field_is_content_or_metadata() -> None:
    assert set(Plan.model_fields) == CONTENT | METADATA
    assert Plan.metadata() == METADATA


def test_the_digest_is_of_the_content_alone() -> None:
    whole = made()
    assert whole.made_by("spark@desk", "2026-11-29T16:15:00Z", {"pyinfra": "3.10.0"}).digest == whole.digest
    commands = {
        each.host: {one.name: (PlannedCommand(does="x", sends=("true",)),) for one in each.operations}
        for each in whole.hosts
    }
    other = "sha256:" + "0" * 64
    changed: dict[str, Any] = {
        "target": Target(name="b", kind="spark", hosts=("a",)),
        "scope": Scope.FABRIC,
        "desired_digest": other,
        "prestate_digest": other,
        "hosts": whole.with_commands(commands).hosts,
    }
    assert changed.keys() | {"format"} == CONTENT
    digests = {whole.replaced(**{name: value}).digest for name, value in changed.items()}
    assert len(digests | {whole.digest}) == len(changed) + 1


def test_a_plan_is_read_back_as_it_was() -> None:
    whole = made()
    again = Plan.from_canonical(whole.canonical)
    assert again == whole
    assert [type(each) for each in again.steps] == [type(each) for each in whole.steps]
    assert {each.kind for each in whole.steps} >= {"write_document", "activate", "ollama_service", "ollama_load"}


def subclasses(of: type[Any]) -> Iterator[type[Any]]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)


def test_every_kind_of_step_can_be_read_back_and_follows_kinds_that_are() -> None:
    union, _ = get_args(AnyStep)
    known_kinds = {each.model_fields["kind"].default: each for each in get_args(union)}
    kinds = {each for each in subclasses(Step) if "kind" in each.__annotations__}
    planned = {each for each in kinds if each.is_planned}
    assert set(known_kinds.values()) == planned, "add it to fleet/steps.py"
    for each in planned:
        assert each.follows | each.stands_for <= set(known_kinds)


def test_what_a_step_does_is_all_that_does_not_follow_from_what_was_found() -> None:
    for step in made().steps:
        found = {
            name
            for name, field in type(step).model_fields.items()
            if any(isinstance(each, Found) for each in field.metadata)
        }
        assert {"before", "after", "reason"} <= found
        assert set(step.act) | found | {"kind"} == set(type(step).model_fields)


def records(of: Any, known_types: set[type[Record]]) -> set[type[Record]]:
    """Every record that a type may hold, at any depth."""
    if isinstance(of, type) and issubclass(of, Record) and of not in known_types:
        known_types.add(of)
        for field in of.model_fields.values():
            records(field.annotation, known_types)
    for each in get_args(of):
        records(each, known_types)
    return known_types


def test_what_changes_by_itself_is_marked() -> None:
    marked = {
        f"{each.__name__}.{name}"
        for each in records(Observation, set())
        for name in each.model_fields
        if each.is_volatile(name)
    }
    assert marked == VOLATILE


def test_of_what_a_plan_says_only_its_notes_change_by_themselves() -> None:
    marked = {f"{each.__name__}.{name}" for each in records(Plan, set()) for name in each.model_fields
              if each.is_volatile(name)}  # fmt: skip
    assert marked == {"HostPlan.notes"}


KERNEL = Kernel(release="6.17.0", page_size_bytes=4096, command_line=CommandLine(), boot_id="one", uptime_seconds=1.0)
MEMORY = Memory(total_bytes=9, available_bytes=5, free_bytes=4, swap_total_bytes=0, swap_free_bytes=0)


@pytest.mark.parametrize(
    ("changes", "moves"),
    [
        ({"kernel": KERNEL.replaced(uptime_seconds=2.0)}, set()),
        ({"kernel": KERNEL.replaced(boot_id="two")}, {"kernel"}),
        ({"memory": MEMORY.replaced(free_bytes=1, available_bytes=2)}, set()),
        ({"memory": MEMORY.replaced(total_bytes=10)}, {"memory"}),
        ({"links": (*known(blank("a").links), observed.link("veth1").replaced(kind="veth"))}, set()),
        ({"links": (*known(blank("a").links), observed.link("eth9"))}, {"links"}),
        ({"memory": Unobserved(reason="closed")}, {"memory"}),
    ],
)
def test_a_host_moves_by_what_is_done_to_it_and_not_by_itself(changes: dict[str, Any], moves: set[str]) -> None:
    seen = blank("a").model_copy(update={"kernel": KERNEL, "memory": MEMORY})
    before, after = (prestate(each, Scope.SERVE) for each in (seen, seen.model_copy(update=changes)))
    assert {name for name in before if before[name] != after[name]} == moves
    assert (made(seen).digest == made(seen.model_copy(update=changes)).digest) is (not moves)


def test_what_is_served_is_no_part_of_a_plan_of_the_fabric() -> None:
    seen = blank("a").model_copy(update={"ollama_models": Unobserved(reason="closed")})
    fabric = [plan(ROSTER, A, {"a": each}, Scope.FABRIC) for each in (seen, blank("a"))]
    assert all(isinstance(each, Plan) for each in fabric)
    assert fabric[0] == fabric[1]
    assert not any(name.startswith("ollama") for name in prestate(seen, Scope.FABRIC))
    assert [each.section for each in unseen(seen, Scope.SERVE)] == ["ollama_models"]
    served_otherwise = Roster.read(GOOD, "test")
    other = plan(served_otherwise, A, {"a": blank("a")}, Scope.FABRIC)
    assert isinstance(other, Plan)
    assert other.digest == fabric[0].digest


def test_what_was_considered_and_needs_nothing_is_told() -> None:
    (host,) = made().hosts
    due = {each.name for each in host.operations}
    assert "files of others" in host.considered
    assert due.isdisjoint(host.considered)
    done = observed.as_desired(ROSTER.desired_for("b").rail_ends, "b")
    (idle,) = made(done, target=Target(name="b", kind="spark", hosts=("b",))).hosts
    assert idle.operations == ()
    assert {f"{end.interface} durable" for end in ROSTER.desired_for("b").rail_ends} <= set(idle.considered)


PRINTS = "from tests.fleet.test_plan_document import made; print(made().digest)"


def test_the_digest_is_the_same_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", PRINTS], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout.strip()
        for seed in ("0", "1", "12345")
    }  # fmt: skip
    assert found == {made().digest}


@given(pair_rosters())
def test_another_host_changes_no_digest_but_its_own(values: dict[str, Any]) -> None:
    more = values | {"sparks": values["sparks"] | {"another-host": {"enrolled": True}}}
    one, other = Roster.read(values, "test"), Roster.read(more, "test")
    for name in one.enrolled:
        target = Target(name=name, kind="spark", hosts=(name,))
        assert made(observed.blank(name), one, target).digest == made(observed.blank(name), other, target).digest
    assert one.digest != other.digest


@st.composite
def served(draw: st.DrawFn) -> tuple[Roster, str, Observation]:
    """Any roster with one Spark that serves, and any mixture of what is and is not done on it."""
    values = draw(pair_rosters())
    name = draw(st.sampled_from([name for name, each in values["sparks"].items() if each["enrolled"]]))
    deployments = {"chat": {"spark": name, "ollama": spelled(ollama_host.DESIRED)}}
    roster = Roster.read(json.loads(json.dumps(values | {"deployments": deployments})), "test")
    ends = roster.desired_for(name).rail_ends
    fabric = draw(st.sampled_from([observed.blank(name), observed.as_desired(ends, name)]))
    found = draw(ollama_host.states())
    sections = {each: getattr(found, each) for each in SECTIONS}
    return roster, name, fabric.model_copy(update=sections)


@given(served())
def test_applying_a_plan_of_all_that_is_served_leaves_nothing(case: tuple[Roster, str, Observation]) -> None:
    roster, name, seen = case
    target = Target(name=name, kind="spark", hosts=(name,))
    whole = made(seen, roster, target)
    for step in whole.steps:
        if step.kind.startswith("ollama"):
            seen = ollama_host.applied(step, ollama_host.DESIRED, seen)
        else:
            seen = observed.applied(step, roster.desired_for(name).rail_ends, seen)
    assert made(seen, roster, target).is_noop
    assert Plan.from_canonical(whole.canonical).digest == whole.digest


def test_schemas_can_be_made_of_both_documents() -> None:
    both: list[type[BaseModel]] = [Plan, Observation]
    assert all(each.model_json_schema(mode="serialization")["properties"] for each in both)
