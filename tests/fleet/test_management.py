"""What a management connection may be, and what it may not."""

import json
from typing import Any

import pytest
from netaddr import IPNetwork
from pydantic import ValidationError

from fleet.management import Management, apart
from fleet.spark import Spark

STATIC = {"address": "10.0.0.5/24", "gateway": "10.0.0.1", "nameservers": ["10.0.0.1"], "mtu": 1500}


def management(values: Any) -> Management:
    return Management.model_validate_json(json.dumps(values), strict=True)


def test_it_is_left_alone_unless_the_roster_says_what_it_should_be() -> None:
    assert not Spark(enrolled=True).management.is_ours
    assert not management({"interface": "wlP9s9"}).is_ours
    assert management({"dhcp": True}).is_ours
    assert management(STATIC).is_ours


REFUSED: dict[str, tuple[Any, str]] = {
    "a name instead of a mapping": ("enP7s7", "model_type"),
    "a port of the fabric": ({"interface": "enP2p1s0f1np1"}, "management_on_fabric"),
    "no interface name": ({"interface": "a b"}, "interface_name"),
    "dhcp and an address": (STATIC | {"dhcp": True}, "management_twice"),
    "a gateway alone": ({"gateway": "10.0.0.1"}, "management_incomplete"),
    "a gateway with dhcp": ({"dhcp": True, "gateway": "10.0.0.1"}, "management_incomplete"),
    "name servers with dhcp": ({"dhcp": True, "nameservers": ["10.0.0.1"]}, "management_incomplete"),
    "an MTU alone": ({"mtu": 9000}, "management_incomplete"),
    "a gateway elsewhere": (STATIC | {"gateway": "10.0.1.1"}, "gateway_outside"),
    "the address as gateway": (STATIC | {"gateway": "10.0.0.5"}, "gateway_outside"),
    "the network as gateway": (STATIC | {"gateway": "10.0.0.0"}, "gateway_outside"),
    "the broadcast address as gateway": (STATIC | {"gateway": "10.0.0.255"}, "gateway_outside"),
    "an address without a prefix": ({"address": "10.0.0.5"}, "cidr"),
    "an IPv6 name server": (STATIC | {"nameservers": ["::1"]}, "ipv4"),
    "a key of another idea": (STATIC | {"vlan": 7}, "extra_forbidden"),
    "an MTU as text": (STATIC | {"mtu": "1500"}, "int_type"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_has_no_constructor(case: str) -> None:
    values, code = REFUSED[case]
    with pytest.raises(ValidationError) as refused:
        management(values)
    assert {each["type"] for each in refused.value.errors()} == {code}


def test_a_point_to_point_network_has_two_hosts() -> None:
    assert management({"address": "10.0.0.4/31", "gateway": "10.0.0.5"}).gateway is not None


NO_FILES = ("/etc/passwd", "/etc/netplan/../x.yaml", "/etc/netplan/.x.yaml", "50-mgmt.yaml", "/run/netplan/x.yaml",
            "/etc/netplan/x.yaml.bak", "/etc/netplan/a b.yaml")  # fmt: skip


@pytest.mark.parametrize("path", NO_FILES)
def test_only_a_file_that_netplan_reads_and_that_stays_can_be_reverted(path: str) -> None:
    with pytest.raises(ValidationError):
        Spark(enrolled=True, revert=(path,))
    assert Spark(enrolled=True, revert=("/etc/netplan/50-cloud-init.yaml",)).revert


@pytest.mark.parametrize("seconds", [0, 29, 3601, "120", 60.5])
def test_a_guard_has_a_window_that_helps(seconds: object) -> None:
    with pytest.raises(ValidationError):
        Spark.model_validate({"enrolled": True, "guard_seconds": seconds})


def test_management_is_apart_from_every_other_and_from_the_rails() -> None:
    mine, same = management(STATIC), management({"address": "10.0.0.5/16"})
    apart({"a": mine, "b": management({"address": "10.0.0.6/24"}), "c": management({"dhcp": True})}, [])
    apart({"a": mine}, [("rail 7", IPNetwork("10.0.1.0/24"))])
    with pytest.raises(ValueError, match=r"found 10\.0\.0\.5 at a and b"):
        apart({"a": mine, "b": same}, [])
    for network in ("10.0.0.0/16", "10.0.0.0/25"):
        with pytest.raises(ValueError, match=f"found 10.0.0.0/24 and rail 7 in {network}"):
            apart({"a": mine}, [("rail 7", IPNetwork(network))])
