"""Decisions about transit, and the laws: plan, apply, plan finds nothing; a killed run is finished by the next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.desired import DesiredSpark
from fleet.hardware import INTERFACES
from fleet.observation import Observation, known
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.spark import Spark
from fleet.step import Step
from fleet.transit.decide import transit_steps
from fleet.transit.desired import SYSCTL_PATH, Transit
from fleet.transit.firewall import Chain, Filter, Rule
from fleet.transit.observed import Firewall, ForeignChain, OwnFile, OwnUnit, TransitState
from fleet.transit.sysctl import SysctlFile
from tests.fleet import observed
from tests.fleet.transit import host

SUBNETS = tuple(f"10.7.{each}.0/24" for each in range(8))
TRANSIT = Transit(interfaces=INTERFACES, subnets=SUBNETS)
OTHER = Transit(interfaces=INTERFACES[:2], subnets=SUBNETS[:4])
"""What an older roster asked for."""


def desired(transit: Transit | None = TRANSIT) -> DesiredSpark:
    return DesiredSpark(name="a", spark=Spark(enrolled=True), rail_ends=(), ollama=None, transit=transit)


def seen(state: TransitState = host.UNTOUCHED, firewall: Firewall | Unobserved | None = None) -> Observation:
    found = host.with_docker() if firewall is None else firewall
    return observed.blank("a").model_copy(update={"transit": state, "firewall": found})


def steps(of: DesiredSpark, at: Observation) -> list[Step]:
    outcomes = transit_steps(of, at)
    assert not [each for each in outcomes if isinstance(each, Refusal)], outcomes
    return [each for each in outcomes if isinstance(each, Step)]


def kinds(of: DesiredSpark, at: Observation) -> list[str]:
    return [step.kind for step in steps(of, at)]


def refusal(at: Observation, of: DesiredSpark | None = None) -> Refusal:
    (found,) = transit_steps(of or desired(), at)
    assert isinstance(found, Refusal), found
    return found


def done(at: Observation, of: DesiredSpark) -> Observation:
    for step in steps(of, at):
        at = host.applied(step, at)
    return at


def test_a_spark_of_a_ring_gets_files_first_and_rules_then() -> None:
    assert kinds(desired(), seen()) == ["write_transit", "activate_transit"]


def test_a_host_without_docker_gets_the_files_too_and_no_rules() -> None:
    write, activate = steps(desired(), seen(firewall=host.without_docker()))
    assert write.kind == "write_transit"
    assert "SPARKS-TRANSIT" not in activate.before
    assert kinds(desired(), done(seen(firewall=Firewall()), desired())) == []


def test_a_spark_that_never_had_transit_needs_nothing_and_no_look_at_its_firewall() -> None:
    assert kinds(desired(None), seen(firewall=Unobserved(reason="not asked"))) == []


def test_rules_that_docker_or_a_person_took_away_are_put_back() -> None:
    ready = done(seen(), desired())
    lost = ready.model_copy(update={"firewall": host.with_docker()})
    assert kinds(desired(), lost) == ["activate_transit"]


def test_a_drop_that_somebody_put_before_our_rules_is_passed_again() -> None:
    ready = done(seen(), desired())
    (table,) = known(ready.firewall).filters
    user = table.chain("DOCKER-USER")
    assert user is not None
    before = user.model_copy(update={"rules": (Rule(target="DROP", into="enp+"), *user.rules)})
    changed = ready.model_copy(update={"firewall": host.with_docker(table.with_chains([before]))})
    assert kinds(desired(), changed) == ["activate_transit"]
    assert kinds(desired(), done(changed, desired())) == []


@pytest.mark.parametrize(("key", "value"), [("forwarding", "0"), ("rp_filter", "1"), ("rp_filter", "0")])
def test_a_setting_of_one_rail_that_changed_is_set_again(key: str, value: str) -> None:
    ready = done(seen(), desired())
    state = known(ready.transit)
    path = f"net/ipv4/conf/{INTERFACES[2]}/{key}"
    changed = ready.model_copy(update={"transit": state.model_copy(update={"now": state.now | {path: value}})})
    (step,) = steps(desired(), changed)
    assert (step.kind, step.before) == ("activate_transit", f"{INTERFACES[2]} {key} {value}")


def test_what_docker_sets_for_itself_is_not_ours() -> None:
    """ip_forward on or off, the rails forward all the same."""
    ready = done(seen(), desired())
    state = known(ready.transit)
    on = state.model_copy(update={"now": state.now | {"net/ipv4/ip_forward": "1"}})
    assert kinds(desired(), ready.model_copy(update={"transit": on})) == []


UNIT_FILE = OwnFile(content_digest=TRANSIT.unit_digest, mode=0o644, owner="root")
BROKEN: dict[str, dict[str, object]] = {
    "sysctl file gone": {"sysctl": None},
    "sysctl file of other text": {"sysctl": OwnFile(content_digest="sha256:" + "0" * 64, mode=0o644, owner="root")},
    "sysctl file closed": {"sysctl": OwnFile(content_digest=TRANSIT.sysctl_digest, mode=0o600, owner="root")},
    "unit masked": {"unit": OwnUnit(file=OwnFile(mode=0o777, owner="root"), is_linked=True)},
    "unit not linked": {"unit": OwnUnit(file=UNIT_FILE)},
    "unit not loaded": {"unit": OwnUnit(file=UNIT_FILE, is_linked=True, need_daemon_reload=True)},
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_would_not_last_is_written_again(case: str) -> None:
    ready = done(seen(), desired())
    state = known(ready.transit).model_copy(update=BROKEN[case])
    assert kinds(desired(), ready.model_copy(update={"transit": state})) == ["write_transit"]


@pytest.mark.parametrize("leftover", ["sysctl", "unit", "link"])
def test_anything_that_is_left_over_is_removed(leftover: str) -> None:
    whole = host.written(TRANSIT, host.UNTOUCHED)
    only = {
        "sysctl": whole.model_copy(update={"unit": OwnUnit()}),
        "unit": host.UNTOUCHED.model_copy(update={"unit": OwnUnit(file=whole.unit.file)}),
        "link": host.UNTOUCHED.model_copy(update={"unit": OwnUnit(is_linked=True)}),
    }[leftover]
    at = seen(only, Unobserved(reason="not asked"))
    assert kinds(desired(None), at) == ["remove_transit"]
    assert kinds(desired(None), done(at, desired(None))) == []


@pytest.mark.parametrize("ip_forward", ["0", "1"])
def test_removing_gives_each_port_what_all_ports_have(ip_forward: str) -> None:
    """Docker that runs keeps its ip_forward of 1; without it the rails stop forwarding."""
    start = seen(TransitState(now=host.settings(ip_forward=ip_forward, forwarding=ip_forward, rp_filter="1")))
    left = done(done(start, desired()), desired(None))
    now = known(left.transit).now
    assert {now[f"net/ipv4/conf/{each}/forwarding"] for each in INTERFACES} == {ip_forward}
    assert {now[f"net/ipv4/conf/{each}/rp_filter"] for each in INTERFACES} == {now["net/ipv4/conf/default/rp_filter"]}
    assert now["net/ipv4/ip_forward"] == ip_forward
    assert left.firewall == start.firewall


def test_a_later_file_that_turns_a_rail_off_is_refused() -> None:
    late = SysctlFile(path="/etc/sysctl.d/99-sysctl.conf", lines=(f"net.ipv4.conf.{INTERFACES[0]}.forwarding=0",))
    found = refusal(seen(host.UNTOUCHED.model_copy(update={"sysctl_files": (late,)})))
    assert found.code == "transit_overridden"
    assert found.subject == f"a net.ipv4.conf.{INTERFACES[0]}.forwarding at boot"
    assert (found.expected, found.found) == ("1", "0 by /etc/sysctl.d/99-sysctl.conf")


@pytest.mark.parametrize(
    "file",
    [
        SysctlFile(path="/etc/sysctl.d/10-a.conf", lines=(f"net.ipv4.conf.{INTERFACES[0]}.forwarding=0",)),
        SysctlFile(path="/etc/sysctl.d/99-a.conf", lines=(f"net.ipv4.conf.{INTERFACES[0]}.forwarding=1",)),
        SysctlFile(path="/etc/sysctl.d/99-a.conf", lines=("net.ipv4.ip_forward=0", "net.ipv4.conf.all.rp_filter=1")),
        SysctlFile(path="/usr/lib/sysctl.d/99-a.conf", lines=("net.ipv4.conf.*.forwarding=0",)),
    ],
)
def test_other_files_do_not_matter(file: SysctlFile) -> None:
    """A hardened host keeps its ip_forward of 0: each rail is set apart, and 2 is more than a strict 1 for all."""
    assert kinds(desired(), seen(host.UNTOUCHED.model_copy(update={"sysctl_files": (file,)})))


def closed(*rules: Rule) -> Filter:
    return Filter(program="iptables", chains=(Chain(name="FORWARD", policy="DROP", rules=rules),))


FIRST = Chain(name="FORWARD", rules=(Rule(target="REJECT"), Rule(target="DOCKER-USER")))
BLOCKED = {
    "iptables: policy DROP of FORWARD": Firewall(filters=(closed(),)),
    "iptables: rule 1 of FORWARD (REJECT)": Firewall(filters=(host.DOCKER.with_chains([FIRST]),)),
    "iptables-legacy: policy DROP of FORWARD": Firewall(
        filters=(host.DOCKER, closed().model_copy(update={"program": "iptables-legacy"}))
    ),
    "nftables: policy drop of inet filter forward": Firewall(
        foreign=(ForeignChain(table="inet filter", name="forward"),)
    ),
    "firewalld with enp1s0f0np0 in public": Firewall(zones=dict.fromkeys(INTERFACES, "public")),
    "firewalld with enp1s0f0np0 in no zone": Firewall(zones={}),
}


@pytest.mark.parametrize("found", BLOCKED)
def test_a_firewall_of_somebody_else_is_named_and_not_fought(found: str) -> None:
    refused = refusal(seen(firewall=BLOCKED[found]))
    assert (refused.code, refused.found) == ("transit_blocked", found)
    assert refused.hint


@pytest.mark.parametrize(
    "firewall",
    [
        Firewall(filters=(closed(Rule(target="ACCEPT", into="enp+"), Rule(target="ACCEPT", into="enP+")),)),
        Firewall(foreign=(ForeignChain(table="inet filter", name="forward", accepts=INTERFACES),)),
        Firewall(zones=dict.fromkeys(INTERFACES, "trusted")),
    ],
)
def test_an_owner_who_lets_the_rails_pass_is_no_refusal(firewall: Firewall) -> None:
    assert kinds(desired(), done(seen(firewall=firewall), desired())) == []


@pytest.mark.parametrize("section", ["transit", "links", "firewall"])
def test_what_was_not_observed_is_never_a_value(section: str) -> None:
    blind = seen().model_copy(update={section: Unobserved(reason="no answer")})
    assert str(refusal(blind)) == f"a {section}: expected an observation, found no answer [unobserved]"


def test_a_leftover_that_nobody_could_see_is_refused() -> None:
    assert refusal(seen().model_copy(update={"transit": Unobserved(reason="x")}), desired(None)).code == "unobserved"


@st.composite
def hosts(draw: st.DrawFn) -> Observation:
    """Any mixture of what may be there: of ours, of an older roster, of Docker."""
    ip_forward = draw(st.sampled_from("01"))
    state = TransitState(now=host.settings(draw(st.sampled_from("01")), draw(st.sampled_from("012")), ip_forward))
    firewall = draw(st.sampled_from([host.with_docker(), host.without_docker(), Firewall()]))
    before = draw(st.sampled_from([None, TRANSIT, OTHER]))
    if before is not None:
        whole = host.written(before, state)
        if draw(st.booleans()):
            state = whole.model_copy(update={"unit": draw(st.sampled_from([whole.unit, OwnUnit()]))})
        else:
            state = state.model_copy(update={"unit": whole.unit})
        if draw(st.booleans()) and firewall.filters:
            firewall = host.activated(before, firewall)
    return seen(state, firewall)


wishes = st.sampled_from([desired(None), desired(TRANSIT), desired(OTHER)])


@given(hosts(), wishes)
def test_applying_the_steps_leaves_nothing(at: Observation, wish: DesiredSpark) -> None:
    assert kinds(wish, done(at, wish)) == []


@given(hosts(), wishes, st.integers(0, 1))
def test_a_killed_run_is_finished_by_the_next(at: Observation, wish: DesiredSpark, killed_after: int) -> None:
    first = steps(wish, at)
    for step in first[:killed_after]:
        at = host.applied(step, at)
    assert kinds(wish, at) == [step.kind for step in first[killed_after:]]


@given(hosts(), wishes)
def test_transit_that_is_not_asked_for_leaves_no_trace(at: Observation, wish: DesiredSpark) -> None:
    left = done(done(at, wish), desired(None))
    assert known(left.transit).leftovers == ()
    assert not [file for file in known(left.transit).sysctl_files if file.path == SYSCTL_PATH]
