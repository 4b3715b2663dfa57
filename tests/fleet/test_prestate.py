"""What changes by itself moves no plan, unless a decision rests on it; what somebody does moves every plan."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.connections import Connections, Profile
from fleet.hardware import INTERFACES
from fleet.kernel.running import CommandLine, Kernel
from fleet.keyfile import Settings, Storage
from fleet.links import Link, LinkAddress
from fleet.nm_device import NmDevice
from fleet.observation import Observation, known
from fleet.ollama.observed import Residency
from fleet.plan import Plan, Refusals, plan
from fleet.prestate import prestate
from fleet.roce import RoceGid
from fleet.roster import Roster
from fleet.target import Scope
from fleet.transit.observed import Firewall
from tests.fleet import observed
from tests.fleet.observed import MANAGEMENT
from tests.fleet.ollama import host as ollama_host
from tests.fleet.spelled import spelled
from tests.fleet.test_plan_document import SECTIONS, A, made
from tests.fleet.test_roster import GOOD
from tests.fleet.transit import host as transit_host

SERVING = {"spark": "a", "ollama": spelled(ollama_host.DESIRED.replaced(evict_undeclared=False))}
ROSTER = Roster.read(GOOD | {"deployments": {"chat": SERVING}}, "test")
RAIL = ROSTER.desired_for("a").rail_ends[0].interface
UNUSED = next(name for name in INTERFACES if ROSTER.desired_for("a").end_on(name) is None)
KERNEL = Kernel(release="6.17.0", page_size_bytes=4096, command_line=CommandLine(), boot_id="one", uptime_seconds=1.0)
STRANGER = ollama_host.loaded(name="stranger:1")
LEASED = LinkAddress(address="10.0.0.11/24", dynamic=True)
LINK_LOCAL = LinkAddress(address="fe80::1/64", scope="link")
NAMED = Profile(name="house", uuid="11111111-2222-3333-4444-555555555555", type="802-11-wireless", autoconnect=True,
                storage=Storage.PERSISTENT)  # fmt: skip
MADE_UP = Profile(
    name="Wired connection 2", uuid="21111111-2222-3333-4444-555555555555", type="802-3-ethernet", autoconnect=True,
    storage=Storage.IN_MEMORY, generated=True, stored=Settings(interface=UNUSED, ipv4_method="auto"),
)  # fmt: skip


def start() -> Observation:
    """A Spark whose rails and Ollama are as desired, and which has Wi-Fi, a lease, and a stranger loaded."""
    residents = (ollama_host.loaded(), STRANGER)
    served = ollama_host.seen(residents=residents)
    seen = observed.as_desired(ROSTER.desired_for("a").rail_ends, "a")
    seen = seen.model_copy(update={"kernel": KERNEL} | {each: getattr(served, each) for each in SECTIONS})
    seen = observed.with_link(seen, observed.link(MANAGEMENT).replaced(addresses=(LEASED, LINK_LOCAL)))
    seen = _profile(seen, NAMED)
    wifi = NmDevice(name="wlP9s9", type="wifi", state="disconnected")
    links = (*known(seen.links), observed.link("wlP9s9", carrier=False).replaced(mac="02:00:00:00:00:01"))
    return _network(seen.model_copy(update={"links": links}), devices=(*known(seen.connections).devices, wifi))


def _network(seen: Observation, **changes: object) -> Observation:
    return seen.model_copy(update={"connections": known(seen.connections).replaced(**changes)})


def _profile(seen: Observation, profile: Profile) -> Observation:
    return _network(observed.with_profile(seen, profile))


def _link(seen: Observation, name: str, **changes: object) -> Observation:
    link = next(each for each in known(seen.links) if each.name == name)
    return observed.with_link(seen, link.replaced(**changes))


def _device(seen: Observation, name: str, **changes: object) -> Observation:
    devices = known(seen.connections).devices
    return _network(
        seen, devices=tuple(each.replaced(**changes) if each.name == name else each for each in devices)
    )  # fmt: skip


def _residents(seen: Observation, *residents: object) -> Observation:
    return seen.model_copy(update={"ollama_residency": Residency(source="api", residents=residents)})


def _connecting(seen: Observation) -> Observation:
    up = NAMED.replaced(state="activating", device="wlP9s9")
    detail = "getting IP configuration"
    return _profile(_device(seen, "wlP9s9", state="connecting", detail=detail), up)


def _connected(seen: Observation) -> Observation:
    up = NAMED.replaced(state="activated", device="wlP9s9")
    seen = _device(seen, "wlP9s9", state="connected", detail=None, connection="house")
    return _profile(_link(seen, "wlP9s9", carrier=True, operstate="UP", mac="02:00:00:00:00:02"), up)


def _tries(seen: Observation) -> Observation:
    """A cabled port without a rail asks for a lease that nobody gives, again and again."""
    seen = _device(seen, UNUSED, state="connecting", detail="getting IP configuration")
    seen = _profile(seen, MADE_UP.replaced(state="activating", device=UNUSED))
    gid = RoceGid(device="x", port=1, index=0, gid="fe80:0:0:0:0:0:0:1", type="RoCE v2", netdev=UNUSED)
    seen = seen.model_copy(update={"roce_gids": (gid, *known(seen.roce_gids))})
    return _link(seen, UNUSED, addresses=(LINK_LOCAL,))


BY_ITSELF: dict[str, Callable[[Observation], Observation]] = {
    "nothing": lambda seen: seen,
    "Wi-Fi connects": _connecting,
    "Wi-Fi is connected": _connected,
    "a port tries": _tries,
    "another lease": lambda seen: _link(
        seen, MANAGEMENT, addresses=(LEASED.replaced(address="10.0.0.12/24"),)
    ),
    "a cable without a rail is pulled": lambda seen: _device(
        _link(seen, UNUSED, carrier=False, operstate="DOWN"), UNUSED, state="unavailable"
    ),
    "a bridge of Docker wakes": lambda seen: _link(seen, MANAGEMENT, up=False, operstate="LOWERLAYERDOWN"),
    "a container's rule": lambda seen: seen.model_copy(
        update={"firewall": Firewall(docker="active", filters=(transit_host.OPEN,))}
    ),
    "a stranger is loading still": lambda seen: _residents(
        seen, ollama_host.loaded(), STRANGER.replaced(size_bytes=0, context_length=None, keep="unset")
    ),
}  # fmt: skip

BY_SOMEBODY: dict[str, Callable[[Observation], Observation]] = {
    "a boot": lambda seen: seen.model_copy(update={"kernel": KERNEL.replaced(boot_id="two")}),
    "a kernel": lambda seen: seen.model_copy(update={"kernel": KERNEL.replaced(release="6.18.0")}),
    "a file": lambda seen: observed.with_file(seen, observed.netplan_file("/etc/netplan/70-x.yaml", "network: {}")),
    "an address": lambda seen: _link(seen, UNUSED, addresses=(LinkAddress(address="10.9.9.9/24"),)),
    "another MTU": lambda seen: _link(seen, MANAGEMENT, mtu=1400),
    "a profile": lambda seen: _profile(seen, NAMED.replaced(uuid="31111111-2222-3333-4444-555555555555")),
    "no autoconnect": lambda seen: _profile(seen, NAMED.replaced(autoconnect=False)),
    "an eviction": lambda seen: _residents(seen, ollama_host.loaded()),
    "a load": lambda seen: _residents(seen, ollama_host.loaded(), STRANGER, STRANGER.replaced(name="another:1")),
    "a rail's port down": lambda seen: _link(seen, RAIL, up=False),
    "a rail's profile down": lambda seen: _network(
        seen, profiles=tuple(each.replaced(state=None) for each in known(seen.connections).profiles)
    ),
    "a declared resident otherwise": lambda seen: _residents(
        seen, ollama_host.loaded(context_length=4096), STRANGER
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BY_ITSELF)
def test_what_changes_by_itself_moves_nothing(what: str) -> None:
    before, after = start(), BY_ITSELF[what](start())
    assert (before == after) is (what == "nothing"), "the test is about a change"
    assert prestate(after, Scope.SERVE) == prestate(before, Scope.SERVE)
    assert made(after, ROSTER).digest == made(before, ROSTER).digest


@pytest.mark.parametrize("what", BY_SOMEBODY)
def test_what_somebody_does_moves_the_plan(what: str) -> None:
    before, after = (made(each, ROSTER) for each in (start(), BY_SOMEBODY[what](start())))
    assert before.is_noop
    assert after.digest != before.digest


words = st.sampled_from(["connected", "connecting", "disconnected", "unavailable"])
seldom = st.integers(0, 15).map(lambda number: number == 15)


@st.composite
def by_itself(draw: st.DrawFn, seen: Observation) -> Observation:
    """The same Spark, with anything else of what changes by itself."""

    def link(one: Link) -> Link:
        addresses = (*one.addresses, *draw(st.sampled_from([(), (LINK_LOCAL,), (LEASED,)])))
        return one.replaced(up=draw(st.booleans()), carrier=not draw(seldom), addresses=addresses)

    def device(one: NmDevice) -> NmDevice:
        return one.replaced(state=draw(words), kept_down=draw(seldom))

    def profile(one: Profile) -> Profile:
        state = draw(st.sampled_from(["activated", "activating", None]))
        return one.replaced(state=state, device=state and draw(st.sampled_from([one.device, UNUSED])))

    before = known(seen.connections)
    profiles = (*before.profiles, *draw(st.sampled_from([(), (MADE_UP,)])))
    connections: Connections = before.replaced(
        devices=tuple(map(device, before.devices)), profiles=tuple(map(profile, profiles))
    )
    gids = tuple(
        each.replaced(port_active=not draw(seldom), index=draw(st.integers(0, 5))) for each in known(seen.roce_gids)
    )
    links = tuple(map(link, known(seen.links)))
    return seen.model_copy(update={"links": links, "connections": connections, "roce_gids": gids})


@given(st.sampled_from([start(), observed.blank("a").model_copy(
    update={each: getattr(start(), each) for each in SECTIONS}
)]).flatmap(lambda seen: st.tuples(st.just(seen), by_itself(seen), by_itself(seen))))  # fmt: skip
def test_a_plan_moves_by_what_changes_by_itself_just_where_a_decision_does(case: tuple[Observation, ...]) -> None:
    """A port without its carrier is refused, one whose profile is up needs another step: then it is another plan."""
    _, one, other = case
    assert prestate(one, Scope.SERVE) == prestate(other, Scope.SERVE)
    before, after = (plan(ROSTER, A, {"a": each}) for each in (one, other))
    if isinstance(before, Refusals) or isinstance(after, Refusals):
        return
    assert isinstance(before, Plan)
    assert (before.digest == after.digest) is (before.steps == after.steps)
