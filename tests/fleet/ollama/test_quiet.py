"""Does a request run: by what went over each connection, and by what moved the expiry of a model."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.ollama.quiet import activity, may_run, parse_connections, place

SS = """\
0      0              10.0.0.11:11434        10.0.0.9:50634
\t cubic wscale:10,10 rto:204 rtt:0.032/0.016 bytes_sent:24 bytes_acked:25 bytes_received:40 lastsnd:4188 lastrcv:4288
0      0      [::ffff:10.0.0.11]:11434 [::ffff:10.0.0.8]:1 cubic bytes_received:512 lastsnd:70000 lastrcv:70 lastack:70
7      0                 [::1]:11434           [::1]:2 cubic lastsnd:5 lastrcv:5
0      0      [fe80::1%enP7s7]:11434 [fe80::2%enP7s7]:3 cubic lastsnd:9 lastrcv:9
"""
"""In the form of iproute2 6.1, an entry on two lines or on one."""


def connection(**changes: int) -> dict[str, int]:
    """One that was answered a minute ago."""
    return {"unread": 0, "bytes_sent": 24, "bytes_received": 40, "lastsnd": 60000, "lastrcv": 61000} | changes


def test_what_the_kernel_knows_of_connections_is_by_their_far_ends() -> None:
    found = parse_connections(SS)
    assert list(found) == ["10.0.0.9:50634", "10.0.0.8:1", "[::1]:2", "[fe80::2]:3"]
    assert found["10.0.0.9:50634"] == connection(lastsnd=4188, lastrcv=4288)
    assert [may_run(each) for each in found.values()] == [False, True, False, False]
    assert parse_connections("") == {}


@pytest.mark.parametrize("text", ["", "x", "10.0.0.9", "[::1]"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|does not appear"):
        place(text)


@pytest.mark.parametrize(
    ("changes", "runs"),
    [
        ({}, False),
        ({"lastrcv": 59000}, True),
        ({"lastrcv": 60000}, True),
        ({"bytes_sent": 0, "lastsnd": 60000, "lastrcv": 61000}, True),
        ({"unread": 3}, True),
        ({"bytes_received": 0, "bytes_sent": 0, "lastsnd": 5, "lastrcv": 5}, False),
    ],
)
def test_a_request_may_run_where_the_last_word_was_the_clients(changes: dict[str, int], runs: bool) -> None:
    assert may_run(connection(**changes)) is runs


def look(models: Any = None, **clients: Any) -> dict[str, Any]:
    return {"clients": {f"{far}:1": each for far, each in clients.items()}, "models": {} if models is None else models}


def test_nothing_is_quiet() -> None:
    idle = look({"a:1": "x"}, one=connection())
    assert activity(idle, idle, 2000) == []
    assert activity(None, idle, 2000) == []


def test_what_is_not_known_may_run() -> None:
    assert activity(None, look(one=None, two=connection(lastrcv=1)), 2000) == ["2 may run, from one, two"]


def test_an_answer_since_the_last_look_is_no_quiet() -> None:
    fresh = look(one=connection(lastsnd=1500, lastrcv=1600))
    assert activity(None, fresh, 2000) == ["1 just answered, to one"]
    assert activity(None, fresh, 1000) == []


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"a:1": "x"}, {"a:1": "y"}, ["a:1 just used"]),
        ({}, {"a:1": "x", "b:1": "x"}, ["a:1, b:1 just used"]),
        ({"a:1": "x"}, {}, []),
        (None, {"a:1": "x"}, []),
        ({"a:1": "x"}, None, []),
    ],
)
def test_a_request_that_came_and_went_between_two_looks_has_moved_an_expiry(
    before: Any, now: Any, said: list[str]
) -> None:
    assert activity({"clients": {}, "models": before}, {"clients": {}, "models": now}, 2000) == said


numbers = st.integers(0, 10**6)
connections = st.one_of(st.none(), st.fixed_dictionaries(dict.fromkeys(connection(), numbers)))


@given(st.dictionaries(st.sampled_from(["10.0.0.1:1", "10.0.0.1:2", "[::1]:3"]), connections))
def test_a_request_that_may_run_is_never_passed_over(clients: dict[str, Any]) -> None:
    count = sum(map(may_run, clients.values()))
    said = activity(None, {"clients": clients, "models": None}, 0)
    assert any(each.startswith(f"{count} may run") for each in said) == (count > 0)
