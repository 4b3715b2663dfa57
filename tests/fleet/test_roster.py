"""A roster that cannot work cannot be read, and says where it is wrong."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from fleet.roster import Roster
from fleet.roster_error import RosterError
from tests.fleet.strategies import pair_rosters

GOOD: dict[str, Any] = {
    "sparks": {"a": {"enrolled": True}, "b": {"enrolled": True}, "c": {"enrolled": False}},
    "fabrics": {
        "rails": {
            "shape": "pair",
            "cables": [
                {
                    "rails": [
                        {
                            "rail": 1,
                            "ends": [
                                {"spark": "a", "interface": "enp1s0f0np0", "address": "10.1.1.1/24", "mtu": 9000},
                                {"spark": "b", "interface": "enp1s0f0np0", "address": "10.1.1.2/24", "mtu": 9000},
                            ],
                        },
                        {
                            "rail": 2,
                            "ends": [
                                {
                                    "spark": "a",
                                    "interface": "enP2p1s0f0np0",
                                    "address": "10.1.2.1/24",
                                    "mtu": 9000,
                                },
                                {
                                    "spark": "b",
                                    "interface": "enP2p1s0f0np0",
                                    "address": "10.1.2.2/24",
                                    "mtu": 9000,
                                },
                            ],
                        },
                    ]
                }
            ],
        }
    },
}

Change = Callable[[dict[str, Any]], Any]


def end(values: dict[str, Any], rail: int, end: int) -> dict[str, Any]:
    found: dict[str, Any] = values["fabrics"]["rails"]["cables"][0]["rails"][rail]["ends"][end]
    return found


def another_cable(values: dict[str, Any], **changes: Any) -> None:
    """A second cable, between b and c unless said otherwise."""
    ends = [
        {"spark": "b", "interface": "enp1s0f1np1", "address": "10.1.3.1/24", "mtu": 9000},
        {"spark": "c", "interface": "enp1s0f1np1", "address": "10.1.3.2/24", "mtu": 9000},
    ]
    values["fabrics"]["rails"]["cables"].append({"rails": [{"rail": 3, "ends": ends} | changes]})


def listening_on(listen: str) -> Change:
    """A deployment whose Ollama listens there."""
    return lambda values: values.update(deployments={"x": {"spark": "a", "ollama": {"listen": listen}}})


WRONG: dict[str, tuple[Change, str, str]] = {
    "two ends in different subnets": (
        lambda v: end(v, 0, 1).update(address="10.9.9.2/24"),
        "fabrics.rails.cables[0].rails[0]",
        "rail 1: expected one subnet at every end, found a in 10.1.1.0/24 and b in 10.9.9.0/24",
    ),
    "one network at two prefixes": (
        lambda v: end(v, 0, 1).update(address="10.1.1.2/25"),
        "fabrics.rails.cables[0].rails[0]",
        "expected one subnet at every end",
    ),
    "a crossed rail": (
        lambda v: [end(v, at, 1).update(interface=n) for at, n in enumerate(["enp1s0f1np1", "enP2p1s0f1np1"])],
        "fabrics.rails",
        "rail 1: expected one interface at every end, found a enp1s0f0np0 and b enp1s0f1np1",
    ),
    "an MTU changed at one end": (
        lambda v: end(v, 1, 0).update(mtu=1500),
        "fabrics.rails.cables[0].rails[1]",
        "rail 2: expected one MTU at every end, found a 1500 and b 9000",
    ),
    "one address at both ends": (
        lambda v: end(v, 0, 1).update(address="10.1.1.1/24"),
        "fabrics.rails.cables[0].rails[0]",
        "expected an address for each end, found 10.1.1.1 2 times",
    ),
    "both ends on one spark": (
        lambda v: end(v, 0, 1).update(spark="a"),
        "fabrics.rails.cables[0].rails[0]",
        "expected another spark at each end, found a 2 times",
    ),
    "a rail on an interface outside the fabric": (
        lambda v: end(v, 0, 0).update(interface="enP7s7"),
        "fabrics.rails.cables[0].rails[0].ends[0]",
        "expected a ConnectX-7 twin, as enp1s0f0np0, found enP7s7",
    ),
    "an interface whose case is wrong": (
        lambda v: end(v, 1, 0).update(interface="enp2p1s0f0np0"),
        "fabrics.rails.cables[0].rails[1].ends[0]",
        "expected a ConnectX-7 twin",
    ),
    "two rails in one subnet": (
        lambda v: [end(v, 1, at).update(address=f"10.1.1.{at + 8}/24") for at in (0, 1)],
        "fabrics.rails",
        "rails 1 and 2: expected a subnet each",
    ),
    "a subnet inside another": (
        lambda v: [end(v, 1, at).update(address=f"10.1.1.{at + 129}/25") for at in (0, 1)],
        "fabrics.rails",
        "rails 1 and 2: expected a subnet each",
    ),
    "rails of one cable on two cages": (
        lambda v: [end(v, 1, at).update(interface="enp1s0f1np1") for at in (0, 1)],
        "fabrics.rails.cables[0]",
        "expected one cage",
    ),
    "one twin used twice": (
        lambda v: [end(v, 1, at).update(interface="enp1s0f0np0") for at in (0, 1)],
        "fabrics.rails.cables[0]",
        "expected both twins of the cage",
    ),
    "a cable without rails": (
        lambda v: v["fabrics"]["rails"]["cables"][0].update(rails=[]),
        "fabrics.rails.cables[0]",
        "rails: expected one or two",
    ),
    "a rail number used twice": (
        lambda v: another_cable(v, rail=1),
        "fabrics.rails",
        "rail 1: expected a rail number of its own, found it 2 times",
    ),
    "a spark in two pairs": (another_cable, "fabrics.rails", "b: expected one cable for a spark of a pair, found two"),
    "an end on a spark nobody knows": (
        lambda v: [end(v, rail, 0).update(spark="zed") for rail in (0, 1)],
        "roster",
        "expected one of a, b, c, found zed",
    ),
    "a prefix of 32": (
        lambda v: end(v, 0, 0).update(address="10.1.1.1/32"),
        "fabrics.rails.cables[0].rails[0].ends[0].address",
        "expected an IPv4 prefix of 1 to 31, found 10.1.1.1/32",
    ),
    "a prefix of 0": (
        lambda v: end(v, 0, 0).update(address="10.1.1.1/0"),
        "fabrics.rails.cables[0].rails[0].ends[0].address",
        "expected an IPv4 prefix of 1 to 31",
    ),
    "no prefix": (
        lambda v: end(v, 0, 0).update(address="10.1.1.1"),
        "fabrics.rails.cables[0].rails[0].ends[0].address",
        "expected an IPv4 address with its prefix",
    ),
    "an address written short": (
        lambda v: end(v, 0, 0).update(address="10.1/24"),
        "fabrics.rails.cables[0].rails[0].ends[0].address",
        "expected an IPv4 address with its prefix",
    ),
    "an octet with a leading zero": (
        lambda v: end(v, 0, 0).update(address="10.1.1.010/24"),
        "fabrics.rails.cables[0].rails[0].ends[0].address",
        "expected an IPv4 address with its prefix",
    ),
    "IPv6 where IPv4 is required": (
        lambda v: end(v, 0, 0).update(address="fd00::1/64"),
        "fabrics.rails.cables[0].rails[0].ends[0].address",
        "expected an IPv4 prefix",
    ),
    "a loopback address": (
        lambda v: end(v, 0, 0).update(address="127.0.0.2/8"),
        "fabrics.rails.cables[0].rails[0].ends[0].address",
        "expected an address that a peer can reach, found 127.0.0.2",
    ),
    "a multicast address": (
        lambda v: end(v, 0, 0).update(address="224.0.0.2/8"),
        "fabrics.rails.cables[0].rails[0].ends[0].address",
        "expected an address that a peer can reach, found 224.0.0.2",
    ),
    "more residents than may be loaded at once": (
        lambda v: v.update(
            deployments={
                "x": {
                    "spark": "a",
                    "ollama": {
                        "environment": {"OLLAMA_MAX_LOADED_MODELS": "1"},
                        "models": [
                            {"name": n, "digest": "sha256:" + "0" * 64, "size_bytes": 1} for n in ("m:1", "n:1")
                        ],
                        "residents": [{"model": n, "context": 1} for n in ("m:1", "n:1")],
                    },
                }
            }
        ),
        "deployments.x.ollama",
        "residents: expected at most OLLAMA_MAX_LOADED_MODELS=1, found 2",
    ),
    **{
        f"listening on {listen!r}": (
            listening_on(listen),
            "deployments.x.ollama.listen",
            "listen: expected a form like 127.0.0.1:11434",
        )
        for listen in (
            "x\nExecStartPre=poweroff\nEnvironment=A=b:1",
            "%h:11434",
            "$(id):11434",
            "a b:1",
            "a\0b:1",
            "999.1.1.1:80",
            "0.0.0.0",
            ":11434",
            "http://x:1",
        )
    },
    "the network's own address": (
        lambda v: end(v, 0, 0).update(address="10.1.1.0/24"),
        "fabrics.rails.cables[0].rails[0].ends[0].address",
        "expected a host address of 10.1.1.0/24, found 10.1.1.0",
    ),
    "a wrong type": (
        lambda v: end(v, 0, 0).update(mtu="9000"),
        "fabrics.rails.cables[0].rails[0].ends[0].mtu",
        "expected a valid integer, found '9000'",
    ),
    "a truth where a number belongs": (
        lambda v: end(v, 0, 0).update(mtu=True),
        "fabrics.rails.cables[0].rails[0].ends[0].mtu",
        "expected a valid integer, found True",
    ),
    "a number where a truth belongs": (
        lambda v: v["sparks"]["a"].update(enrolled=1),
        "sparks.a.enrolled",
        "expected a valid boolean, found 1",
    ),
    "an unknown key": (
        lambda v: v["sparks"]["a"].update(enroled=True),
        "sparks.a.enroled",
        "expected no such key, found it with True",
    ),
    "an unknown key at the top": (
        lambda v: v.update(fabirc={}),
        "roster.fabirc",
        "expected no such key",
    ),
    "a missing key": (lambda v: end(v, 0, 0).pop("mtu"), "ends[0].mtu", "expected a value, found none"),
    "an unknown shape": (
        lambda v: v["fabrics"]["rails"].update(shape="star"),
        "fabrics.rails.shape",
        "expected 'single', 'pair', 'triangle', 'ring' or 'switch', found 'star'",
    ),
    "values that are not plain": (lambda v: v["sparks"].update(d={1, 2}), "roster", "expected plain values"),
    "a management interface in the fabric": (
        lambda v: v["sparks"]["a"].update(management={"interface": "enp1s0f0np0"}),
        "sparks.a.management",
        "expected an interface outside the fabric",
    ),
    "a deployment on a spark that is only named": (
        lambda v: v.update(deployments={"x": {"spark": "c", "ollama": {}}}),
        "roster",
        "expected an enrolled spark, found c, only named",
    ),
    "a lone cluster of a spark that is not there": (
        lambda v: v.update(clusters={"x": {"sparks": ["z"]}}),
        "roster",
        "clusters.x.sparks: expected one of a, b, c, found z",
    ),
    "a router that is a number": (
        lambda v: v["sparks"]["a"].update(management={"address": "10.8.0.2/24", "gateway": 168296449}),
        "sparks.a.management.gateway",
        "expected an IP address, found 168296449",
    ),
    "a name server that is a group": (
        lambda v: v["sparks"]["a"].update(management={"address": "10.8.0.2/24", "nameservers": ["224.0.0.1"]}),
        "sparks.a.management.nameservers[0]",
        "expected an address that answers, found 224.0.0.1",
    ),
    "a rail below nothing": (
        lambda v: v["fabrics"]["rails"]["cables"][0]["rails"][0].update(rail=-1),
        "cables[0].rails[0].rail",
        "expected greater than or equal to 0, found -1",
    ),
    "a spark that serves twice": (
        lambda v: v.update(deployments={n: {"spark": "a", "ollama": {}} for n in ("x", "y")}),
        "roster",
        "a: expected one deployment, found x and y",
    ),
}


def test_the_good_one_is_read() -> None:
    roster = Roster.read(GOOD, "group_data/x.py")
    assert roster.enrolled == ("a", "b")


@pytest.mark.parametrize("case", WRONG)
def test_a_roster_that_cannot_be_says_where_and_why(case: str) -> None:
    change, place, sentence = WRONG[case]
    values = copy.deepcopy(GOOD)
    change(values)
    with pytest.raises(RosterError) as caught:
        Roster.read(values, "group_data/x.py")
    assert any(
        line.startswith("group_data/x.py: roster") and place in line and sentence in line for line in caught.value.lines
    ), caught.value.lines


ITSELF: list[Any] = []
ITSELF.append(ITSELF)


def deep(depth: int) -> Any:
    return [deep(depth - 1)] if depth else []


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"sparks": {1: {"enrolled": True}}}, "roster.sparks: expected text for each key, found 1"),
        ({"sparks": {"a": None}}, "roster.sparks.a: expected a value, or the key left out, found None"),
        ({"sparks": {None: {}, "a": {}}}, "roster.sparks: expected text for each key, found None"),
        ({"sparks": {("a",): {}}}, "roster.sparks: expected text for each key, found ('a',)"),
        ({"sparks": {"a", "b"}}, "roster.sparks: expected plain values, found {'a', 'b'}"),
        ({"sparks": b"a"}, "roster.sparks: expected plain values, found b'a'"),
        ({"sparks": ITSELF}, "roster: expected values nested at most 32 deep, found more"),
        ({"sparks": deep(500)}, "roster: expected values nested at most 32 deep, found more"),
        ({"sparks": {"a\ud800": {}}}, "roster.sparks: expected text of whole Unicode characters, found 'a\\ud800'"),
        ({"sparks": {"a": 10**5000}}, "roster.sparks.a: expected a number of at most 64 bits, found a number of more"),
        ({"sparks": {"a\nb": {"enrolled": True}}}, "roster.sparks['a\\nb']: expected a host name of letters, digits"),
        (
            {"sparks": {"a": {"enrolled": True, "revert": ["/x"]}}},
            "revert[0]: expected a file as /etc/netplan/NAME.yaml",
        ),
        ({"sparks": {"a": {"enrolled": True, "machine_id": "1"}}}, "machine_id: expected sha256: and 64 hex digits"),
    ],
)
def test_what_is_not_plain_is_named_and_never_turned_into_something_else(values: Any, line: str) -> None:
    with pytest.raises(RosterError) as caught:
        Roster.read(values, "x.py")
    assert any(each.startswith("x.py: roster") and line in each for each in caught.value.lines), caught.value.lines
    assert all(each.isprintable() and len(each) < 300 for each in caught.value.lines)


def test_every_complaint_is_given_at_once() -> None:
    values = copy.deepcopy(GOOD)
    values["sparks"]["a"]["enroled"] = True
    end(values, 0, 0)["mtu"] = "9000"
    end(values, 1, 1).pop("address")
    with pytest.raises(RosterError) as caught:
        Roster.read(values, "x")
    assert len(caught.value.lines) == 3


@given(pair_rosters())
def test_any_valid_roster_keeps_its_invariants(values: dict[str, Any]) -> None:
    roster = Roster.read(values, "x")
    ends = [end for segment in roster.segments for end in segment.ends]
    assert len({str(end.address.ip) for end in ends}) == len(ends)
    assert len({(end.spark, end.interface) for end in ends}) == len(ends)
    assert Roster.from_canonical(roster.canonical) == roster
    assert Roster.read(values, "x").digest == roster.digest


@given(pair_rosters())
def test_every_end_of_an_enrolled_spark_is_desired_of_it_and_of_no_other(values: dict[str, Any]) -> None:
    roster = Roster.read(values, "x")
    for name in roster.enrolled:
        wanted = {(e.interface, e.address, e.mtu) for s in roster.segments for e in s.ends if e.spark == name}
        assert {(e.interface, e.address, e.mtu) for e in roster.desired_for(name).rail_ends} == wanted
    for name in set(roster.sparks) - set(roster.enrolled):
        with pytest.raises(KeyError):
            roster.desired_for(name)


def _served(**model: Any) -> dict[str, Any]:
    """A roster whose Spark a serves two residents, with what is said of the first one's model."""
    pins = [{"name": name, "digest": "sha256:" + "a" * 64, "size_bytes": 1} for name in ("m:1", "n:1")]
    said = {key: each for key, each in model.items() if each is not None}
    ollama = {
        "environment": {"OLLAMA_NUM_PARALLEL": "1"},
        "models": [pins[0] | said, pins[1] | ({"memory": MEMORY} if "memory" in model else {})],
        "residents": [{"model": each["name"], "context": 8192} for each in pins],
    }
    return GOOD | {"deployments": {"chat": {"spark": "a", "ollama": ollama}}}


MEMORY = {"weights_bytes": 1 << 30, "kv_bytes_per_token": 1 << 17}
SHORT: dict[str, tuple[dict[str, Any], str]] = {
    "weights of nothing": (
        _served(memory=MEMORY | {"weights_bytes": 0}),
        "roster.deployments.chat.ollama.models[0].memory.weights_bytes: expected greater than 0, found 0",
    ),
    "no KV cache declared": (
        _served(memory={"weights_bytes": 1}),
        "roster.deployments.chat.ollama.models[0].memory.kv_bytes_per_token: expected a value, found none",
    ),
    "a key that is none": (
        _served(memory=MEMORY | {"weight_bytes": 1}),
        "memory.weight_bytes: expected no such key, found it with 1",
    ),
    "a draft in Ollama": (
        _served(memory=MEMORY | {"draft": {"attachment": "fused", "kv_bytes_per_token": 1}}),
        "models[0].memory: draft: expected none, since Ollama has no drafts, found one [ollama_has_no_draft]",
    ),
    "memory of one resident and not of another": (
        _served(memory=None),
        "models: expected memory for each resident, found none for m:1 [memory_of_some]",
    ),
    "slots that are not pinned": (
        {**_served(memory=MEMORY)} | {"deployments": {"chat": {"spark": "a", "ollama": _served(memory=MEMORY)[
            "deployments"]["chat"]["ollama"] | {"environment": {}}}}},
        "environment.OLLAMA_NUM_PARALLEL: expected a number of slots, since memory is declared, found none "
        "[slots_not_pinned]",
    ),
    "a ceiling above all there is": (
        GOOD | {"memory": {"ceiling": 1.5}},
        "memory.ceiling: expected a fraction above 0, up to 1, of at most four decimals, found 1.5 [no_fraction]",
    ),
    "a floor above the ceiling": (
        GOOD | {"memory": {"floor": 0.95}},
        "roster.memory: floor: expected at most the ceiling 0.9, found 0.95 [floor_above_ceiling]",
    ),
    "a reserve in words": (
        GOOD | {"memory": {"reserve_bytes": "8 GiB"}},
        "roster.memory.reserve_bytes: expected a valid integer, found '8 GiB'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("values", "line"), SHORT.values(), ids=list(SHORT))
def test_memory_that_cannot_be_is_named_at_its_key(values: dict[str, Any], line: str) -> None:
    with pytest.raises(RosterError) as failure:
        Roster.read(values, "site.py")
    assert line in str(failure.value)


def test_its_digest_is_of_what_the_file_says_and_not_of_what_is_so_unsaid() -> None:
    plain = GOOD["sparks"]
    said = plain | {"a": {"enrolled": True, "guard_seconds": 120, "pci": {}, "management": {"interface": "enP7s7"}}}
    roster = Roster.read(GOOD | {"sparks": plain}, "x")
    assert Roster.read(GOOD | {"sparks": said, "kernels": {}}, "x").digest == roster.digest
    assert Roster.read(GOOD | {"sparks": plain | {"a": {"enrolled": True, "guard_seconds": 121}}}, "x").digest != (
        roster.digest
    )


def test_a_policy_of_memory_is_that_of_each_spark() -> None:
    roster = Roster.read(GOOD | {"memory": {"ceiling": 0.85, "reserve_bytes": 4 << 30}}, "site.py")
    assert str(roster.desired_for("a").memory_policy.ceiling) == "0.85"
    assert Roster.read(GOOD | {"memory": {"ceiling": "0.850"}}, "site.py").memory == roster.memory.replaced(
        reserve_bytes=8 << 30
    )


@pytest.mark.parametrize("name", ["", "a\nb", "\0", "-x", "../x", "a;b", "a b", "é", "x" * 65])
def test_a_deployment_has_a_name_that_can_be_said(name: str) -> None:
    with pytest.raises(RosterError, match="deployments"):
        Roster.read(GOOD | {"deployments": {name: {"spark": "a", "ollama": {}}}}, "test")
