"""How a host is reached is told from this machine alone: its name, and whether its key is pinned."""

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gevent
import pytest
from paramiko import ECDSAKey

from fleet.doctor.check import Reached
from lab.doctor import reach

KEY = ECDSAKey.generate()
LINE = f"{KEY.get_name()} {KEY.get_base64()}"


@pytest.fixture(autouse=True)
def _no_config_of_whoever_runs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "get_ssh_config", lambda _: None)
    monkeypatch.setattr(socket, "getaddrinfo", _means)


def _means(place: str, *_: Any, **__: Any) -> list[Any]:
    if place != "127.0.0.1":
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return []


def reached(name: str, **data: Any) -> Reached:
    host: Any = SimpleNamespace(name=name, data=data)
    (found,) = reach.reached({name: host})
    return found


def test_a_name_that_means_an_address_and_one_that_means_none() -> None:
    assert reached("a", ssh_hostname="127.0.0.1").unresolved is None
    assert reached("a", ssh_hostname="nobody.invalid").unresolved == "Name or service not known"


@pytest.mark.parametrize(
    ("pinned", "data", "is_pinned"),
    [
        (f"127.0.0.1 {LINE}", {}, True),
        (f"127.0.0.2 {LINE}", {}, False),
        (f"127.0.0.1 {LINE}", {"ssh_port": 2222}, False),
        (f"[127.0.0.1]:2222 {LINE}", {"ssh_port": 2222}, True),
        ("", {}, False),
        ("127.0.0.1 nonsense", {}, False),
        (None, {}, False),
    ],
)
def test_a_key_is_pinned_for_the_very_place(
    pinned: str | None, data: dict[str, Any], is_pinned: bool, tmp_path: Path
) -> None:
    file = tmp_path / "known_hosts"
    if pinned is not None:
        file.write_text(f"{pinned}\n")
    found = reached("a", ssh_hostname="127.0.0.1", ssh_known_hosts_file=str(file), **data)
    assert (found.pinned, found.known_hosts) == (is_pinned, str(file))
    assert found.place == ("[127.0.0.1]:2222" if data else "127.0.0.1")


def test_where_a_jump_host_resolves_names_none_is_asked_for_here(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"hostname": "inside.invalid", "proxyjump": "gate"}
    monkeypatch.setattr(reach, "get_ssh_config", lambda _: SimpleNamespace(lookup=lambda _: known))
    found = reached("a")
    assert (found.place, found.unresolved, found.pinned) == ("inside.invalid", None, True)


def test_a_resolver_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "RESOLVE_SECONDS", 0.01)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: gevent.sleep(5))
    assert reached("a").unresolved == "no answer of the resolver in 0.01 s"


@pytest.mark.parametrize(("data", "command"), [
    ({}, "ssh a"),
    ({"ssh_hostname": "192.0.2.7", "ssh_user": "ada", "ssh_port": 2222}, "ssh -p 2222 -l ada 192.0.2.7"),
    (
        {"ssh_key": "/keys/my key", "ssh_config_file": "/c", "ssh_known_hosts_file": "/a site/known_hosts"},
        "ssh -F /c -i '/keys/my key' -o 'UserKnownHostsFile=\"/a site/known_hosts\"' a",
    ),
])  # fmt: skip
def test_the_command_that_reaches_a_host_is_the_inventorys(data: dict[str, Any], command: str) -> None:
    host: Any = SimpleNamespace(name="a", data=data)
    assert reach.ssh_command(host) == command
