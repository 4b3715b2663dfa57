"""What becomes of a forwarded packet, rule by rule, as iptables walks its chains."""

import pytest

from fleet.transit.desired import Transit
from fleet.transit.firewall import Chain, Filter, Rule, Traffic
from tests.fleet.transit.host import DOCKER, OPEN

RAILS = ("enp1s0f0np0", "enp1s0f1np1")
TRAFFIC = Traffic(into=RAILS[0], out=RAILS[1], source="10.7.0.0/24", destination="10.7.1.0/24")
TRANSIT = Transit(interfaces=RAILS, subnets=("10.7.0.0/24", "10.7.1.0/24"))


def table(*rules: Rule, policy: str = "ACCEPT", **chains: tuple[Rule, ...]) -> Filter:
    named = [Chain(name=name.replace("_", "-"), rules=each) for name, each in chains.items()]
    return Filter(program="iptables", chains=(Chain(name="FORWARD", policy=policy, rules=rules), *named))


PASSES = {
    "nothing is set": table(),
    "no such chain": Filter(program="iptables", chains=()),
    "accepted before the policy": table(Rule(target="ACCEPT", into=RAILS[0], out=RAILS[1]), policy="DROP"),
    "accepted in a chain": table(Rule(target="A"), policy="DROP", A=(Rule(target="ACCEPT", source="10.7.0.0/16"),)),
    "a drop of other interfaces": table(Rule(target="DROP", into="docker0"), Rule(target="DROP", out="!enp+")),
    "a drop of other networks": table(
        Rule(target="DROP", source="!10.7.0.0/24"), Rule(target="DROP", source="10.8.0.0/16")
    ),
    "a drop with a condition": table(Rule(target="DROP", narrowed=True)),
    "a chain under a condition": table(Rule(target="A", narrowed=True), A=(Rule(target="DROP"),)),
    "a chain that returns before it drops": table(Rule(target="A"), A=(Rule(target="RETURN"), Rule(target="DROP"))),
    "a target that decides nothing": table(Rule(target="LOG"), Rule()),
    "accepted before a drop": table(Rule(target="ACCEPT", into="enp1s0f0+"), Rule(target="DROP")),
}

STOPS = {
    "policy DROP of FORWARD": table(policy="DROP"),
    "rule 2 of FORWARD (DROP)": table(Rule(target="ACCEPT", narrowed=True), Rule(target="DROP")),
    "rule 1 of FORWARD (REJECT)": table(Rule(target="REJECT", destination="10.7.1.8/32")),
    "rule 1 of A (DROP)": table(Rule(target="A", into="!lo"), A=(Rule(target="DROP", out="enp1s0f1np1"),)),
    "rule 2 of B (DROP)": table(
        Rule(target="A"),
        A=(Rule(target="B"), Rule(target="ACCEPT")),
        B=(Rule(target="RETURN", narrowed=True), Rule(target="DROP")),
    ),
    "policy DROP of FORWARD (only some is accepted)": table(Rule(target="ACCEPT", source="10.7.0.0/25"), policy="DROP"),
}


@pytest.mark.parametrize("case", PASSES)
def test_traffic_passes_where(case: str) -> None:
    assert PASSES[case].stops(TRAFFIC) is None


@pytest.mark.parametrize("case", STOPS)
def test_traffic_is_stopped_by(case: str) -> None:
    assert STOPS[case].stops(TRAFFIC) == f"iptables: {case.partition(' (only')[0]}"


def test_dockers_table_stops_transit_until_our_rules_are_in() -> None:
    assert all(DOCKER.stops(each) == "iptables: policy DROP of FORWARD" for each in TRANSIT.traffic)
    ours = TRANSIT.accepted_by(DOCKER)
    assert not any(ours.stops(each) for each in TRANSIT.traffic)


@pytest.mark.parametrize(
    "changed",
    [
        {"into": "enP7s7"},
        {"out": "docker0"},
        {"into": "docker0"},
        {"source": "10.7.2.0/24"},
        {"destination": "0.0.0.0/0"},
    ],
)
def test_our_rules_pass_nothing_but_rails_and_their_subnets(changed: dict[str, str]) -> None:
    other = TRAFFIC.model_copy(update=changed)
    before, after = DOCKER.stops(other), TRANSIT.accepted_by(DOCKER).stops(other)
    assert after == before


def test_a_table_without_docker_stays_as_it_is() -> None:
    assert TRANSIT.accepted_by(OPEN) == OPEN


def test_our_jump_becomes_the_first_and_only_one() -> None:
    user = Chain(name="DOCKER-USER", rules=(Rule(target="DROP"), Rule(target="SPARKS-TRANSIT"), Rule(target="RETURN")))
    found = TRANSIT.accepted_by(DOCKER.with_chains([user])).chain("DOCKER-USER")
    assert found is not None
    assert [rule.target for rule in found.rules] == ["SPARKS-TRANSIT", "DROP", "RETURN"]
