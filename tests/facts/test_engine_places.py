"""Where the servers of an engine are found and reached: ports, sockets, those behind a router."""

import os
from typing import Any

import pytest

from facts.llamacpp import LlamaCpp
from facts.remote import engine_http, engine_places, engines

HTTP: Any = engine_http
PLACES: Any = engine_places
REMOTE: Any = engines


def test_one_that_listens_nowhere_yet_is_told() -> None:
    process = {"runtime": "vllm", "role": "server", "pid": os.getpid(), "under": None, "listens": [], "options": {}}
    (found,) = PLACES.servers([{**process, "host_network": True}], "vllm", 8000, [], _Places)
    assert found["endpoint"] is None
    assert HTTP.said(None, ["/health"]) == {"/health": {"error": "it does not listen yet"}}


@pytest.mark.parametrize(
    ("options", "ports"),
    [
        ({"port": "9000"}, [9000]),
        ({}, [8000]),
        ({"port": "7"}, []),
        ({"port": "(redacted)"}, [8000]),
        ({"port": "0"}, [8000]),
    ],
)
@pytest.mark.parametrize("runtime", ["llama.cpp", "vllm"])
def test_the_port_is_that_which_was_given_else_the_usual_one(
    runtime: str, options: dict[str, str], ports: list[int]
) -> None:
    assert _ports(["127.0.0.1:9000", "127.0.0.1:8000"], options, runtime) == ports


def test_another_port_is_better_than_none_where_it_is_known_from_elsewhere() -> None:
    assert _ports(["127.0.0.1:9931"], {}, "llama.cpp") == [9931]
    assert _ports(["127.0.0.1:9931"], {"config": "/v.yaml"}, "vllm") == [9931]


def test_a_vllm_that_loads_is_not_asked_where_its_parts_find_each_other() -> None:
    assert _ports(["[::]:39821"], {"port": "18002"}, "vllm") == []
    assert _ports(["[::]:39821"], {}, "vllm") == []


class _Places:
    @staticmethod
    def endpoints(places: list[tuple[Any, int]]) -> list[str]:
        return [f"http://{host}:{port}" for host, port in places]


def _ports(listens: list[str], options: dict[str, str], runtime: str) -> list[int]:
    known = {"runtime": runtime, "pid": os.getpid(), "host_network": True}
    process = {**known, "listens": listens, "options": options}
    return [int(each.rpartition(":")[2]) for each in PLACES.endpoints(process, 8000, _Places)]


@pytest.mark.parametrize(
    ("listens", "endpoint"),
    [(["127.0.0.1:9000"], "http://127.0.0.1:9000"), ([], None)],
)
def test_processes_that_share_a_port_are_one_server_and_it_is_that_which_started_them(
    listens: list[str], endpoint: str | None
) -> None:
    def server(pid: int, under: int | None, listens: list[str], **options: str) -> dict[str, Any]:
        known = {"runtime": "vllm", "role": "server", "options": options, "host_network": True}
        return {**known, "pid": pid, "under": under, "listens": listens}

    processes = [server(1, None, ["[::]:39821"], port="9000"), server(2, 1, listens), server(3, 1, listens)]
    invocation = REMOTE.loaded("invocation", LlamaCpp().command().arguments["invocation"])  # type: ignore[attr-defined]
    found = PLACES.servers(processes, "vllm", 8000, [], invocation)
    assert [(each["endpoint"], each["process"]["pid"]) for each in found] == [(endpoint, 1)]


def test_a_router_has_those_that_it_has_started_with_it() -> None:
    known = {"runtime": "llama.cpp", "role": "server", "host_network": True}
    router = {**known, "pid": 1, "under": None, "listens": ["127.0.0.1:8080"], "options": {}}
    behind = {**known, "pid": 2, "under": 1, "listens": ["127.0.0.1:50001"], "options": {"port": "50001"}}
    (found,) = PLACES.servers([router, behind], "llama.cpp", 8080, [], _Places)
    assert (found["endpoint"], found["process"]) == ("http://127.0.0.1:8080", router)
    assert [(each["endpoint"], each["process"]) for each in found["inner"]] == [("http://127.0.0.1:50001", behind)]


def test_what_is_redacted_or_cannot_be_read_nobody_can_tell() -> None:
    gone = {"pid": 2**31 - 1, "options": {"api-prefix": "(redacted)", "host": "h"}}
    assert PLACES.setting(gone, "api-prefix", "V") is None
    assert PLACES.setting(gone, "host", "V") == "h"
    assert PLACES.setting(gone, "port", "V") is None
    assert PLACES.setting({"pid": os.getpid(), "options": {}}, "port", "V") == ""
