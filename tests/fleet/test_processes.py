"""Trees of engine processes, who has lost its server, and what they hold."""

from typing import Any

import pytest

from fleet.processes import EngineProcess, EngineProcesses, ProcessMemory, held_bytes, parse_processes
from fleet.record import canonical_json


def process(pid: int, role: str = "server", under: int | None = None, **changed: Any) -> EngineProcess:
    values = {"runtime": "vllm", "role": role, "pid": pid, "ppid": under or 1, "start_ticks": 9, "under": under}
    values |= {"comm": "python3", "state": "S", "uid": 1000}
    memory = ProcessMemory(rss_bytes=100, rss_file_bytes=40, pss_bytes=70, pss_file_bytes=20)
    return EngineProcess(**{**values, "memory": memory, **changed})


TREE = EngineProcesses(
    processes=(
        process(10),
        process(11, "engine", 10),
        process(12, "worker", 11),
        process(13, "child", 12),
        process(20, "engine", None, ppid=1),
        process(30, "rpc", runtime="llama.cpp"),
    )
)


def test_every_process_is_below_exactly_one_root() -> None:
    pids = [[each.pid for each in TREE.below(root)] for root in TREE.roots]
    assert pids == [[10, 11, 12, 13], [20], [30]]


def test_only_what_a_server_starts_can_lose_it() -> None:
    assert [each.pid for each in TREE.processes if each.is_orphan] == [20]


def test_one_whose_server_ended_while_we_looked_is_a_root() -> None:
    left = EngineProcesses(processes=(process(11, "engine", 10),))
    assert left.roots == left.processes


def test_pages_of_files_are_not_held_and_shared_ones_in_part() -> None:
    assert held_bytes([process(1), process(2)]) == 100
    ended = ProcessMemory(rss_bytes=100, rss_file_bytes=40)
    assert held_bytes([process(1, memory=ended)]) == 60


def test_roles_of_a_runtime() -> None:
    assert [each.pid for each in TREE.of("vllm", "engine", "worker")] == [11, 12, 20]
    assert [each.pid for each in TREE.of("llama.cpp")] == [30]


def test_a_look_is_read_whole_or_not() -> None:
    assert parse_processes(TREE.canonical) == TREE
    with pytest.raises(ValueError, match="process 7: permission denied"):
        parse_processes(canonical_json({"error": "process 7: permission denied"}))
