"""Where the servers of an engine are found and reached: ports, sockets, those behind a router."""

import os
from typing import Any

import pytest

from facts.llamacpp import LlamaCpp
from facts.remote import engine_http, engines

HTTP: Any = engine_http
REMOTE: Any = engines


def test_one_that_listens_nowhere_yet_is_told() -> None:
    process = {"runtime": "vllm", "role": "server", "pid": os.getpid(), "under": None, "listens": [], "options": {}}
    (found,) = HTTP.servers([{**process, "host_network": True}], "vllm", 8000, [], _Places)
    assert found["endpoint"] is None
    assert HTTP.said(None, ["/health"]) == {"/health": {"error": "it does not listen yet"}}


@pytest.mark.parametrize(
    ("options", "ports"),
    [({"port": "9000"}, [9000]), ({}, [8000]), ({"port": "7"}, [8000]), ({"port": "(redacted)"}, [8000])],
)
def test_the_port_is_that_which_was_given_else_the_usual_one(options: dict[str, str], ports: list[int]) -> None:
    assert _ports(["127.0.0.1:9000", "127.0.0.1:8000"], options) == ports


def test_another_port_is_better_than_none() -> None:
    assert _ports(["127.0.0.1:9931"], {}) == [9931]


class _Places:
    @staticmethod
    def endpoints(places: list[tuple[Any, int]]) -> list[str]:
        return [f"http://{host}:{port}" for host, port in places]


def _ports(listens: list[str], options: dict[str, str]) -> list[int]:
    process = {"pid": os.getpid(), "listens": listens, "options": options, "host_network": True}
    return [int(each.rpartition(":")[2]) for each in HTTP.endpoints(process, 8000, _Places)]


def test_a_server_behind_processes_that_share_its_port_is_one() -> None:
    def server(pid: int, under: int | None, listens: list[str]) -> dict[str, Any]:
        known = {"runtime": "vllm", "role": "server", "options": {}, "host_network": True}
        return {**known, "pid": pid, "under": under, "listens": listens}

    processes = [server(1, None, []), server(2, 1, ["127.0.0.1:8000"]), server(3, 1, ["127.0.0.1:8000"])]
    invocation = REMOTE.loaded("invocation", LlamaCpp().command().arguments["invocation"])  # type: ignore[attr-defined]
    found = HTTP.servers(processes, "vllm", 8000, [], invocation)
    assert [(each["endpoint"], each["process"]["pid"]) for each in found] == [("http://127.0.0.1:8000", 2)]


def test_a_router_has_those_that_it_has_started_with_it() -> None:
    known = {"runtime": "llama.cpp", "role": "server", "host_network": True}
    router = {**known, "pid": 1, "under": None, "listens": ["127.0.0.1:8080"], "options": {}}
    behind = {**known, "pid": 2, "under": 1, "listens": ["127.0.0.1:50001"], "options": {"port": "50001"}}
    (found,) = HTTP.servers([router, behind], "llama.cpp", 8080, [], _Places)
    assert (found["endpoint"], found["process"]) == ("http://127.0.0.1:8080", router)
    assert [(each["endpoint"], each["process"]) for each in found["inner"]] == [("http://127.0.0.1:50001", behind)]


def test_what_is_redacted_or_cannot_be_read_nobody_can_tell() -> None:
    gone = {"pid": 2**31 - 1, "options": {"api-prefix": "(redacted)", "host": "h"}}
    assert HTTP.setting(gone, "api-prefix", "V") is None
    assert HTTP.setting(gone, "host", "V") == "h"
    assert HTTP.setting(gone, "port", "V") is None
    assert HTTP.setting({"pid": os.getpid(), "options": {}}, "port", "V") == ""
