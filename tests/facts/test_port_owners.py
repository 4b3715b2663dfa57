"""The fact that is made of four looks: one command, and not observed unless every look was."""

import json
import subprocess
from typing import Any

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts.bundle import Wanted
from facts.fabric import PortOwners
from facts.look import SENTINEL
from facts.netplan import NetplanLeftovers
from fleet.hardware import INTERFACES

NETPLAN = '{"files": []}\n' + SENTINEL
STOPPED = f"--- stopped\n{SENTINEL}"
PORT = {"ifname": INTERFACES[0], "ifindex": 4, "mtu": 9000, "flags": ["UP", "LOWER_UP"],
        "addr_info": [{"local": "10.0.0.1", "prefixlen": 24, "scope": "global"}]}  # fmt: skip
LINKS = f"{json.dumps([PORT])}\n--- routes\n[]\n{SENTINEL}"
LEFTOVERS = f"/etc/netplan/10-qsfp.yaml.sync-disabled-20261129\n{SENTINEL}"


def answer(*outputs: str, code: int = 0) -> list[str]:
    sections = [{"code": code, "out": out, "error": "no"} for out in outputs]
    return [json.dumps(sections), SENTINEL]


def test_four_looks_make_one_value() -> None:
    value: Any = PortOwners().process(answer(NETPLAN, STOPPED, LINKS, LEFTOVERS))
    assert [port.present for port in value.ports] == [True, False, False, False]
    assert value.ports[0].claims[0].addresses == ("10.0.0.1/24",)
    assert value.leftovers == ("/etc/netplan/10-qsfp.yaml.sync-disabled-20261129",)


@pytest.mark.parametrize("bad", range(4))
def test_one_look_that_failed_makes_the_whole_unobserved(bad: int) -> None:
    outputs = [NETPLAN, STOPPED, LINKS, LEFTOVERS]
    outputs[bad] = "cut short"
    with pytest.raises(FactProcessError, match="ends with end-of-fact"):
        PortOwners().process(answer(*outputs))


def test_a_user_without_sudo_is_told() -> None:
    with pytest.raises(FactProcessError, match="sudo without a password"):
        PortOwners().process(['{"refused": "expected sudo without a password for x, found it refused"}', SENTINEL])


def test_it_is_a_look_of_a_bundle_like_any_other() -> None:
    assert "command" in Wanted(PortOwners).section


def test_its_command_is_a_program_that_the_shell_accepts() -> None:
    for command in (PortOwners().command(), NetplanLeftovers().command()):
        done = subprocess.run(["sh", "-n", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
