"""The exact files: what they say, and that they say no more than they must."""

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fleet.hardware import INTERFACES
from fleet.transit.desired import Transit
from fleet.transit.sysctl import SysctlFile

RING = Transit(interfaces=INTERFACES, subnets=tuple(f"192.168.{100 + each}.0/24" for each in range(8)))

subnets = st.lists(
    st.integers(0, 2**16 - 1).map(lambda number: str(IPv4Network((0x0A000000 + (number << 8), 24)))),
    min_size=1, max_size=24, unique=True,
).map(tuple)  # fmt: skip


@given(subnets)
def test_networks_cover_the_subnets_and_nothing_else(found: tuple[str, ...]) -> None:
    networks = Transit(interfaces=INTERFACES, subnets=found).networks
    covered = {str(part) for network in networks for part in IPv4Network(network).subnets(new_prefix=24)}
    assert covered == set(found)


def test_neighbouring_subnets_become_few_rules() -> None:
    assert RING.networks == ("192.168.100.0/22", "192.168.104.0/22")
    assert [len(chain.rules) for chain in RING.chains] == [8, 8]


def test_the_sysctl_file_sets_exactly_the_settings_and_not_ip_forward() -> None:
    read = SysctlFile(path="x", lines=tuple(RING.sysctl_text.splitlines()))
    assert read.settings == RING.settings
    assert "net/ipv4/ip_forward" not in read.settings
    assert all(line.startswith(("#", "-net.ipv4.conf.enp", "-net.ipv4.conf.enP")) for line in read.lines)


def test_the_unit_puts_our_chains_in_as_one_transaction() -> None:
    said = [line.partition("=")[2] for line in RING.unit_text.splitlines() if line.startswith("StandardInputText=")]
    assert said[0] == "*filter"
    assert said[-2:] == ["-I DOCKER-USER 1 -j SPARKS-TRANSIT", "COMMIT"]
    assert "-A SPARKS-TRANSIT -s 192.168.100.0/22 -i enp1s0f0np0 -j SPARKS-TRANSIT-TO" in said
    assert "-A SPARKS-TRANSIT-TO -d 192.168.104.0/22 -o enP2p1s0f1np1 -j ACCEPT" in said
    assert "0.0.0.0" not in RING.unit_text


def test_the_unit_comes_with_every_start_of_docker_and_stays_when_it_stops() -> None:
    lines = RING.unit_text.splitlines()
    assert {"After=docker.service", "WantedBy=docker.service"} <= set(lines)
    assert not [line for line in lines if line.startswith(("PartOf=", "RemainAfterExit=", "ExecStop="))]
    assert "%" not in RING.unit_text


@pytest.mark.parametrize(
    "wrong",
    [
        {"interfaces": ("enp1s0f0np0",)},
        {"interfaces": ("enp1s0f0np0", "a b")},
        {"interfaces": ("enp1s0f0np0", "x\nExecStart=/bin/false")},
        {"subnets": ()},
        {"subnets": ("10.0.0.1/24",)},
        {"subnets": ("fd00::/64",)},
    ],
)
def test_what_could_not_be_transit_has_no_constructor(wrong: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(ValidationError):
        Transit.model_validate({"interfaces": INTERFACES, "subnets": ("10.0.0.0/24",)} | wrong)
