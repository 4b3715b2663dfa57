"""The ledger of a Spark: each process in one account, owners by stamp and declaration, and nothing unknown as 0."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from fleet.candidate.identity import Runtime, RuntimeIdentity
from fleet.containers import Container, Containers
from fleet.desired import DesiredSpark
from fleet.generation import Stamp
from fleet.gpu import ComputeApp, GpuAnswer, GpuState
from fleet.invocation import Running
from fleet.ledger import Residency, residency
from fleet.llamacpp import LlamaCpp, parse_llamacpp
from fleet.memory import Memory
from fleet.neighbour import Neighbour
from fleet.observation import Observation
from fleet.ollama.observed import Resident as Loaded
from fleet.ollama.servers import OllamaServer
from fleet.processes import EngineProcess, EngineProcesses, ProcessMemory
from fleet.record import Unobserved, canonical_json
from fleet.resident import Owner, Resident
from fleet.spark import Spark
from fleet.vllm import ServedModel, VllmModels, VllmServer
from tests.fleet.ollama.host import PROCESS, A, B, stamped
from tests.fleet.test_llamacpp import ANSWERS, MODEL
from tests.fleet.test_processes import process

GIB = 1 << 30
MEMORY = Memory(total_bytes=128 * GIB, available_bytes=40 * GIB, free_bytes=8 * GIB, swap_total_bytes=0,
                swap_free_bytes=0)  # fmt: skip
SILENT = Unobserved(reason="no answer in 5 s")
NOTHING: dict[str, Any] = {
    "memory": MEMORY,
    "processes": EngineProcesses(processes=()),
    "gpu": GpuState(answer=GpuAnswer.NOT_INSTALLED, module=None, gpus=(), apps=()),
    "containers": Unobserved(reason="docker is not installed"),
    "ollama_servers": (),
    "vllm": (),
    "llamacpp": LlamaCpp(),
    "generation": Stamp(generation=None),
    "invocation": Running(invocation=None),
}
CONTAINER = Container(
    name="lane", id="c" * 64, image="v:1", image_id=A, argv_digest=B, network="host", state="running",
    started_at="2026-11-30T06:00:00Z",
)  # fmt: skip


def memory(own: int, files: int = 0) -> ProcessMemory:
    return ProcessMemory(
        rss_bytes=own + files, rss_file_bytes=files, pss_bytes=own + files, pss_file_bytes=files
    )  # fmt: skip


def apps(**used: int | Unobserved) -> GpuState:
    """By `pid7=…`."""
    found = tuple(ComputeApp(pid=int(name[3:]), name="python3", used_bytes=each) for name, each in used.items())
    return GpuState(answer=GpuAnswer.SEEN, module="580", gpus=(), apps=found)


def ledger(*processes: EngineProcess, neighbours: tuple[Neighbour, ...] = (), **seen: Any) -> Residency:
    desired = DesiredSpark(name="a", spark=Spark(enrolled=True, neighbours=neighbours), rail_ends=(), ollama=None)
    found = {"processes": EngineProcesses(processes=processes, others_anonymous_bytes=GIB)} if processes else {}
    return residency(desired, Observation(host="a", **{**NOTHING, **found, **seen}))


def residents(*processes: EngineProcess, **seen: Any) -> tuple[Resident, ...]:
    found = ledger(*processes, **seen).residents
    assert not isinstance(found, Unobserved)
    return found


def loaded(name: str, digest: str = A) -> Loaded:
    return Loaded(name=name, manifest_digest=digest, size_bytes=GIB, size_vram_bytes=GIB, context_length=8192,
                  keep="forever")  # fmt: skip


def ollama(*models: Loaded, pid: int = 7) -> dict[str, Any]:
    server = OllamaServer(endpoint="http://127.0.0.1:11434", pid=pid, version="0.13.0", residents=models)
    return {"ollama_servers": (server,)}


SERVE = process(7, runtime="ollama", memory=memory(GIB), executable_digest=B, unit="ollama.service")


def runner(pid: int, *artifacts: str) -> EngineProcess:
    return process(pid, "runner", 7, runtime="ollama", artifacts=artifacts, memory=memory(2 * GIB, files=5 * GIB))


def test_an_idle_spark_has_nobody_and_all_of_it_is_accounted_for() -> None:
    found = ledger()
    assert (found.residents, found.unobserved) == ((), ())
    assert (found.used_bytes, found.unaccounted_bytes) == (88 * GIB, 88 * GIB)


def test_each_account_is_taken_off_what_is_used() -> None:
    found = ledger(process(7, memory=memory(4 * GIB, files=9 * GIB)), gpu=apps(pid7=50 * GIB, pid99=3 * GIB))
    assert found.engines_bytes == 4 * GIB
    assert found.unaccounted_bytes == (88 - 4 - 53 - 1) * GIB


@pytest.mark.parametrize(
    ("part", "lost"),
    [("memory", "memory"), ("processes", "processes"), ("gpu", "compute apps")],
)
def test_what_was_not_seen_is_never_0(part: str, lost: str) -> None:
    unseen: dict[str, Any] = {part: SILENT}
    found = ledger(**unseen)
    assert found.unaccounted_bytes == SILENT
    assert [(each.part, each.reason) for each in found.unobserved] == [(lost, "no answer in 5 s")]
    assert isinstance(found.residents, Unobserved) == (part == "processes")


def test_an_app_whose_memory_the_driver_does_not_tell_leaves_the_sum_unknown() -> None:
    assert isinstance(ledger(gpu=apps(pid7=GIB, pid8=SILENT)).compute_apps_bytes, Unobserved)


def test_a_model_of_ollama_has_the_runner_of_its_weights() -> None:
    found = residents(
        SERVE, runner(8, B), runner(9, A), **ollama(loaded("one"), loaded("two", B)), gpu=apps(pid8=5, pid9=6)
    )  # fmt: skip
    told = {each.name: (each.pids, each.artifact_digest, each.held.compute_apps_bytes) for each in found}
    assert told == {"one": ((9,), A, 6), "two": ((8,), B, 5), "ollama server": ((7,), None, 0)}
    one = next(each for each in found if each.name == "one")
    assert (one.held.engine_bytes, one.held.engine_covers) == (GIB, "weights and context")
    assert (one.held.rss_bytes, one.held.own_bytes, one.context) == (7 * GIB, 2 * GIB, 8192)
    assert one.identity == RuntimeIdentity(
        runtime=Runtime.OLLAMA, form="executable", content_digest=B, version="0.13.0"
    )  # fmt: skip


def test_one_runner_that_is_left_is_that_of_the_one_model_that_is_left() -> None:
    found = residents(SERVE, runner(8), **ollama(loaded("one")))
    assert [(each.name, each.pids) for each in found] == [("ollama server", (7,)), ("one", (8,))]


def test_runners_that_cannot_be_told_apart_are_nobodys_in_particular() -> None:
    found = residents(SERVE, runner(8), runner(9), **ollama(loaded("one"), loaded("two", B)))
    assert [(each.name, each.pids) for each in found] == [("ollama server", (7, 8, 9)), ("one", ()), ("two", ())]
    assert isinstance(found[1].held.own_bytes, Unobserved)
    assert isinstance(found[1].held.compute_apps_bytes, Unobserved)
    assert found[1].held.engine_bytes == GIB


def test_an_ollama_that_does_not_answer_still_holds_what_it_holds() -> None:
    server = OllamaServer(endpoint="http://h", pid=7, version=SILENT, residents=SILENT)
    (found,) = residents(SERVE, runner(8), ollama_servers=(server,))
    assert (found.pids, found.held.engine_bytes, found.held.own_bytes) == ((7, 8), SILENT, 3 * GIB)


@pytest.mark.parametrize(
    ("stamp", "owner", "generation"),
    [
        (stamped(PROCESS), Owner.OURS, A),
        (stamped(PROCESS.replaced(boot_id="two")), Owner.OURS, A),
        (stamped(PROCESS.replaced(argv_digest=A)), Owner.UNKNOWN, None),
        (Stamp(generation=None), Owner.UNKNOWN, None),
        (SILENT, Owner.UNKNOWN, None),
    ],
)
def test_what_a_run_left_running_is_ours(stamp: Any, owner: Owner, generation: str | None) -> None:
    seen = {"generation": stamp, "invocation": Running(invocation=PROCESS)}
    (found,) = residents(SERVE.replaced(start_ticks=PROCESS.start_ticks), **ollama(), **seen)
    assert (found.owner, found.generation) == (owner, generation)
    (other,) = residents(SERVE.replaced(start_ticks=PROCESS.start_ticks + 1), **ollama(), **seen)
    assert other.owner is Owner.UNKNOWN


@pytest.mark.parametrize(
    "neighbour",
    [Neighbour(unit="ollama.service"), Neighbour(container="lane"), Neighbour(program="ollama", note="Ada's")],
)
def test_a_neighbour_is_known_by_the_name_that_it_has(neighbour: Neighbour) -> None:
    in_container = neighbour.container is not None
    where = {"container_id": CONTAINER.id, "unit": None} if in_container else {"unit": "ollama.service"}
    serve = SERVE.replaced(exe="/usr/local/bin/ollama", **where)
    (found,) = residents(serve, neighbours=(neighbour,), containers=Containers(containers=(CONTAINER,)))
    assert (found.owner, found.note) == (Owner.NEIGHBOUR, neighbour.note)
    (stranger,) = residents(serve, neighbours=(Neighbour(unit="other.service"),))
    assert stranger.owner is Owner.UNKNOWN


def test_a_neighbour_has_exactly_one_name() -> None:
    for names in ({}, {"unit": "a.service", "program": "a"}):
        with pytest.raises(ValidationError, match="expected one of unit, container and program"):
            Neighbour(**names)


def test_a_container_of_ours_is_ours_and_its_image_is_what_runs() -> None:
    labelled = CONTAINER.replaced(labels={"sparks.deployment": "qwen"})
    serve = process(7, container_id=CONTAINER.id, executable_digest=B)
    (found,) = residents(serve, containers=Containers(containers=(labelled,)))
    assert (found.owner, found.container) == (Owner.OURS, "lane")
    assert found.identity is not None
    assert (found.identity.form, found.identity.content_digest) == ("image", A)
    unseen = ledger(serve)
    assert [each.part for each in unseen.unobserved] == ["vllm", "containers"][1:]
    assert not isinstance(unseen.residents, Unobserved)
    assert (unseen.residents[0].identity, unseen.residents[0].container) == (None, CONTAINER.id)


def test_a_vllm_is_one_resident_with_all_that_it_started() -> None:
    tree = (process(7, options={"model": "org/m"}), process(8, "engine", 7), process(9, "worker", 8))
    server = VllmServer(
        endpoint="http://h", pid=7, healthy=True, version="0.11.0", sleeping=False, metrics=SILENT,
        models=VllmModels(models=(ServedModel(names=("fast", "m"), root="org/m", max_model_len=4096),)),
    )  # fmt: skip
    (found,) = residents(*tree, vllm=(server,))
    assert (found.name, found.pids, found.context, found.held.engine_bytes) == ("fast", (7, 8, 9), 4096, None)
    silent = ledger(*tree, vllm=(server.replaced(models=SILENT),))
    assert not isinstance(silent.residents, Unobserved)
    assert silent.residents[0].name == "org/m"
    assert [(each.part, each.reason) for each in silent.unobserved] == [("vllm at http://h", "no answer in 5 s")]


def test_an_engine_that_outlived_its_server_is_told_as_such() -> None:
    (found,) = residents(process(20, "engine", None, comm="VLLM::EngineCor"))
    assert (found.name, found.orphan, found.owner) == ("VLLM::EngineCor", True, Owner.UNKNOWN)


def llamacpp(pid: int, **answers: Any) -> LlamaCpp:
    said = {**ANSWERS, **{f"/{path}": answer for path, answer in answers.items()}}
    told = {"endpoint": "http://h", "pid": pid, "container_id": None, "said": said}
    return parse_llamacpp(canonical_json({"servers": [told], "lenders": []}))


def test_a_llama_server_says_what_its_weights_take_and_no_more() -> None:
    (found,) = residents(process(7, runtime="llama.cpp"), llamacpp=llamacpp(7))
    assert (found.name, found.runtime, found.context) == ("a", Runtime.LLAMA_CPP, 8192)
    assert (found.held.engine_bytes, found.held.engine_covers) == (100, "weights")


def test_one_that_sleeps_has_given_its_weights_back() -> None:
    props = {"status": 200, "value": {**ANSWERS["/props"]["value"], "is_sleeping": True}}
    (found,) = residents(process(7, runtime="llama.cpp"), llamacpp=llamacpp(7, props=props))
    assert (found.name, found.held.engine_bytes, found.held.engine_covers) == ("a", 0, "weights")


def test_one_that_is_spread_is_another_runtime() -> None:
    lender = process(8, "rpc", runtime="llama.cpp")
    found = residents(process(7, runtime="llama.cpp", options={"rpc": "10.0.0.2:50052"}), lender)
    assert {each.name: each.runtime for each in found} == {
        "llama.cpp server": Runtime.LLAMA_CPP_RPC, "rpc-server": Runtime.LLAMA_CPP_RPC,
    }  # fmt: skip


def test_what_one_that_is_spread_says_of_its_weights_is_not_of_this_host_alone() -> None:
    (found,) = residents(process(7, runtime="llama.cpp", options={"rpc": "10.0.0.2:50052"}), llamacpp=llamacpp(7))
    assert (found.held.engine_bytes, found.held.engine_covers) == (100, "weights, on all its hosts together")


def test_a_router_has_a_resident_for_each_model_that_it_has_started() -> None:
    child = process(8, "server", 7, runtime="llama.cpp", options={"alias": "a", "model": "/m/a.gguf"})
    listed = [{**MODEL, "status": "loaded"}, {**MODEL, "id": "b", "status": "unloaded"}]
    said = llamacpp(7, models={"status": 200, "value": listed}, props={"status": 200, "value": {"role": "router"}})
    found = residents(process(7, runtime="llama.cpp"), child, llamacpp=said)
    assert [(each.name, each.pids, each.context) for each in found] == [
        ("a", (8,), 8192), ("llama-server (router)", (7,), None),
    ]  # fmt: skip


def test_a_program_that_is_no_engine_is_known_by_the_driver_alone() -> None:
    (found,) = residents(gpu=apps(pid99=3 * GIB), neighbours=(Neighbour(program="python3", note="a notebook"),))
    assert (found.runtime, found.owner, found.note) == (None, Owner.NEIGHBOUR, "a notebook")
    assert found.held.compute_apps_bytes == 3 * GIB
    assert isinstance(found.held.rss_bytes, Unobserved)


@st.composite
def forests(draw: st.DrawFn) -> tuple[EngineProcess, ...]:
    """Any processes, each under an earlier one or under none."""
    found: list[EngineProcess] = []
    for pid in range(1, draw(st.integers(0, 8)) + 1):
        under = draw(st.sampled_from([None, *(each.pid for each in found)]))
        runtime = draw(st.sampled_from(["ollama", "vllm", "llama.cpp"]))
        role = draw(st.sampled_from(["server", "runner", "engine", "worker", "rpc", "child"]))
        held = memory(draw(st.integers(0, 9)))
        found.append(process(pid, role, under, runtime=runtime, memory=held, artifacts=(A,)))
    return tuple(found)


@settings(max_examples=40)
@given(forests(), st.lists(st.sampled_from([loaded("one"), loaded("two", B)]), unique=True), st.integers(1, 8))
def test_every_engine_process_is_in_exactly_one_account(
    forest: tuple[EngineProcess, ...], models: list[Loaded], pid: int
) -> None:
    found = residents(*forest, **ollama(*models, pid=pid))
    pids = sorted(pid for each in found for pid in each.pids)
    assert pids == [each.pid for each in forest]
    own = [each.held.own_bytes for each in found if each.pids]
    assert sum(each for each in own if isinstance(each, int)) == ledger(*forest).engines_bytes
