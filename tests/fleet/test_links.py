"""Links and their addresses as `ip -j -d addr show` prints them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.link_route import LinkRoute, parse_routes
from fleet.links import Link, LinkAddress, find_link, parse_links
from tests.conftest import CaseText

ADDRESSES = st.lists(
    st.builds(
        lambda ip, prefix: {"family": "inet", "local": str(ip), "prefixlen": prefix, "scope": "global"},
        st.ip_addresses(v=4),
        st.integers(1, 32),
    ),
    max_size=5,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["ifname", "ifindex", "mtu", "flags", "addr_info", "local", "prefixlen", "linkinfo"]),
            inner,
        )
    ),
)


def link(addresses: list[dict[str, Any]]) -> str:
    return json.dumps([{"ifindex": 3, "ifname": "enp1s0f0np0", "flags": ["UP"], "mtu": 9000, "addr_info": addresses}])


@given(ADDRESSES.flatmap(lambda each: st.tuples(st.just(each), st.permutations(each))))
def test_the_order_of_addresses_never_matters(
    orders: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    one, other = orders
    assert parse_links(link(one)) == parse_links(link(other))
    assert parse_links(link(one))[0].digest == parse_links(link(other))[0].digest


@given(st.text() | JSON.map(json.dumps))
def test_any_text_is_links_or_a_value_error(text: str) -> None:
    try:
        parse_links(text)
    except ValueError:
        return


def test_placeholders_are_passed_over_at_both_levels(case: CaseText) -> None:
    (filtered,) = parse_links(case("053", "input.scope-global.json"))
    assert [each.address for each in filtered.addresses] == ["192.168.100.10/24", "192.168.200.10/24"]
    assert [each.name for each in parse_links(case("053", "input.up.json"))] == ["enP2p1s0f0np0"]


def test_no_links_is_an_empty_answer(case: CaseText) -> None:
    assert parse_links(case("053", "input.4-dev-noaddr.json")) == ()


def test_the_prefix_of_a_peer_is_the_peers(case: CaseText) -> None:
    bridge = find_link(parse_links(case("055", "input.json")), "br0")
    assert bridge
    assert bridge.addresses == (
        LinkAddress(address="10.1.1.1/32", peer="10.1.1.2/32", label="br0"),
        LinkAddress(address="169.254.3.4/16", scope="link", label="br0"),
    )
    assert not bridge.has_address("10.1.1.1/32"), "a point-to-point address is not one of a rail"
    assert not bridge.up
    assert not bridge.carrier


def test_a_tentative_address_is_seen_and_not_usable(case: CaseText) -> None:
    links = parse_links(case("055", "input.json"))
    port = find_link(links, "cx7port0")
    assert port is find_link(links, "enp1s0f0np0")
    assert port
    assert (port.master, port.parent, port.mac, port.altnames) == ("br0", "peer0", None, ("cx7port0",))
    assert not port.has_address("fe80::cecb:3056:d594:7721/64")
    assert port.addresses[0].tentative


def test_a_loopback_is_up_though_its_operstate_is_unknown(case: CaseText) -> None:
    loopback = find_link(parse_links(case("055", "input.json")), "lo")
    assert loopback
    assert (loopback.up, loopback.carrier, loopback.operstate) == (True, True, "UNKNOWN")


@pytest.mark.parametrize("flag", ["tentative", "dadfailed", "deprecated"])
def test_only_a_usable_address_counts(flag: str) -> None:
    shown = LinkAddress.model_validate({"address": "192.168.102.10/24", flag: True})
    one = Link(name="a", ifindex=1, mtu=9000, up=True, carrier=True, operstate="UP", addresses=(shown,))
    assert not one.has_address("192.168.102.10/24")


def test_an_address_counts_with_its_own_prefix_only() -> None:
    (one,) = parse_links(link([{"local": "192.168.102.10", "prefixlen": 24}]))
    assert one.has_address("192.168.102.10/24")
    assert not one.has_address("192.168.102.10/16")


def test_a_lease_is_dynamic() -> None:
    (one,) = parse_links(link([{"local": "10.0.0.9", "prefixlen": 24, "valid_life_time": 3600}]))
    assert one.addresses[0].dynamic


def test_a_name_wins_over_an_alternative_name() -> None:
    text = json.dumps(
        [
            {"ifindex": 2, "ifname": "a", "altnames": ["b"], "mtu": 1500},
            {"ifindex": 3, "ifname": "b", "mtu": 1500, "link_index": 7, "link_netnsid": 0},
        ]
    )
    found = find_link(parse_links(text), "b")
    assert found
    assert (found.ifindex, found.parent, found.parent_index) == (3, None, 7)


@given(st.text() | JSON.map(json.dumps))
def test_any_text_is_routes_or_a_value_error(text: str) -> None:
    try:
        parse_routes(text)
    except ValueError:
        return


def test_routes_are_of_their_link_in_one_order_and_only_those_by_way_of_a_neighbour() -> None:
    routes = [
        {"dst": to, "dev": dev} | ({"gateway": via} if via else {})
        for dev, to, via in (("a", "10.2.0.0/24", "10.0.0.2"), ("a", "10.1.0.0/24", "10.0.0.1"), ("b", "default", None))
    ]
    assert parse_links(link([]), json.dumps(routes))[0].routes == ()
    assert parse_links(link([]).replace("enp1s0f0np0", "a"), json.dumps(routes))[0].routes == (
        LinkRoute(to="10.1.0.0/24", via="10.0.0.1"),
        LinkRoute(to="10.2.0.0/24", via="10.0.0.2"),
    )
