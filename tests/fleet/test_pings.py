"""Who is pinged, and what ping says: as captured on a virtual Spark (iputils 20240905) where not said otherwise."""

import pytest
from hypothesis import given

from fleet.pings import PingFailure, PingTarget, parse_ping, ping_targets, rail_ping
from fleet.roster import Roster
from tests.fleet.strategies import cabled_rosters
from tests.fleet.test_roster import GOOD

SMALL = """\
PING 192.168.102.11 (192.168.102.11) from 192.168.102.10 enp1s0f1np1: 56(84) bytes of data.
64 bytes from 192.168.102.11: icmp_seq=1 ttl=64 time=48.1 ms
64 bytes from 192.168.102.11: icmp_seq=2 ttl=64 time=1.88 ms

--- 192.168.102.11 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1011ms
rtt min/avg/max/mdev = 1.877/25.001/48.125/23.124 ms
"""
WHOLE = SMALL.replace("56(84)", "8972(9000)").replace("64 bytes", "8980 bytes")
TOO_LONG = """\
PING 192.168.102.10 (192.168.102.10) from 192.168.102.11 enp1s0f1np1: 8972(9000) bytes of data.
ping: sendmsg: Message too long
ping: sendmsg: Message too long

--- 192.168.102.10 ping statistics ---
2 packets transmitted, 0 received, +2 errors, 100% packet loss, time 429ms
"""
SILENCE = """\
PING 192.168.102.99 (192.168.102.99) from 192.168.102.10 enp1s0f1np1: 56(84) bytes of data.

--- 192.168.102.99 ping statistics ---
3 packets transmitted, 0 received, 100% packet loss, time 23ms
"""
FIRST_LOST = SMALL.replace("2 packets transmitted, 2 received, 0%", "3 packets transmitted, 2 received, 33%")
TARGET = PingTarget(
    rail=102, source="a", interface="enp1s0f1np1", own="192.168.102.10", target="b", target_interface="enp1s0f1np1",
    address="192.168.102.11", mtu=9000,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "failure", "detail"),
    [
        (SMALL, None, None),
        (TOO_LONG, PingFailure.TOO_LONG, None),
        # synthesised: as older iputils and routers say it
        ("ping: local error: message too long, mtu=1500\n" + SILENCE, PingFailure.TOO_LONG, "mtu 1500"),
        ("From 10.0.0.1 icmp_seq=1 Frag needed and DF set (mtu = 1500)\n" + SILENCE, PingFailure.TOO_LONG, "mtu 1500"),
        ("From 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n" + SILENCE, PingFailure.UNREACHABLE, None),
        (SILENCE, PingFailure.NO_ANSWER, None),
        ("", PingFailure.NO_ANSWER, None),
        (FIRST_LOST, PingFailure.LOST, "1 of 3"),
        ("ping: connect: Network is unreachable\n", PingFailure.NO_ROUTE, None),
        ("ping: SO_BINDTODEVICE nosuch: No such device\n", PingFailure.NO_INTERFACE, None),
        ("ping: bind: Cannot assign requested address\n", PingFailure.NO_ADDRESS, None),
        (
            "ping: Warning: x\nping: socket: Operation not permitted\n",
            PingFailure.OTHER,
            "socket: Operation not permitted",
        ),
    ],
)
def test_what_ping_says(text: str, failure: PingFailure | None, detail: str | None) -> None:
    found = parse_ping(text)
    assert (found.failure, found.detail) == (failure, detail)


def test_a_rail_is_good_when_small_and_whole_came_back() -> None:
    good = rail_ping(TARGET, SMALL, WHOLE)
    assert (good.is_good, good.rtt_ms, good.at_mtu) == (True, 1.877, True)
    assert str(good) == "rail 102 (a enp1s0f1np1 -> b enp1s0f1np1): answers at MTU 9000 in 1.877 ms"


def test_a_first_packet_that_arp_swallowed_is_no_loss() -> None:
    assert rail_ping(TARGET, FIRST_LOST, WHOLE).is_good
    lossy = rail_ping(TARGET, SMALL, FIRST_LOST)
    assert (lossy.is_good, lossy.failure) == (False, PingFailure.LOST)


@pytest.mark.parametrize(
    ("whole", "words"),
    [
        (TOO_LONG, "found message too long: look at the MTU of a enp1s0f1np1"),
        (SILENCE, "found no answer: look at the MTU of b enp1s0f1np1, and of what is between"),
    ],
)
def test_a_rail_that_is_small_only_says_at_which_end_to_look(whole: str, words: str) -> None:
    found = rail_ping(TARGET, SMALL, whole)
    assert (found.answered, found.at_mtu, found.is_good) == (True, False, False)
    assert str(found) == f"rail 102 (a enp1s0f1np1 -> b enp1s0f1np1): expected an answer at MTU 9000, {words}"


def test_a_dead_rail_names_both_ends_and_nothing_of_its_mtu() -> None:
    found = rail_ping(TARGET, SILENCE, None)
    assert (found.answered, found.at_mtu, found.is_good) == (False, None, False)
    assert str(found) == "rail 102 (a enp1s0f1np1 -> b enp1s0f1np1): expected an answer, found no answer"


def test_a_peer_that_is_only_named_is_pinged_too() -> None:
    sparks = GOOD["sparks"] | {"b": {"enrolled": False}}
    assert {each.target for each in ping_targets(Roster.read(GOOD | {"sparks": sparks}, "test"), "a")} == {"b"}


@given(cabled_rosters())
def test_every_pair_of_ends_of_a_rail_is_pinged_both_ways(values: dict[str, object]) -> None:
    roster = Roster.read(values, "test")
    pinged = [(each.own, each.address) for name in roster.sparks for each in ping_targets(roster, name) if each.own]
    assert len(set(pinged)) == len(pinged)
    assert set(pinged) == {(there, here) for here, there in pinged}
    ends = [segment.ends for segment in roster.segments]
    assert len(pinged) == sum(len(each) * (len(each) - 1) for each in ends)


@given(cabled_rosters(shapes=("ring",)))
def test_in_a_ring_with_transit_every_spark_is_reached(values: dict[str, object]) -> None:
    roster = Roster.read(values, "test")
    (fabric,) = roster.fabrics.values()
    for name in roster.sparks:
        targets = ping_targets(roster, name)
        reached = {each.target for each in targets}
        if fabric.transit:
            assert reached == set(roster.sparks) - {name}
            assert {each.address for each in targets if each.rail is None} == {
                str(end.address.ip)
                for end in fabric.ends
                if end.spark not in {each.target for each in targets if each.rail is not None} | {name}
            }
        else:
            assert all(each.rail is not None for each in targets)
