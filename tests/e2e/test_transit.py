"""Opposite Sparks of a ring reach each other through a neighbour that runs Docker, whatever happens to it."""

import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from fleet.desired import DesiredSpark
from fleet.transit.desired import SYSCTL_PATH, UNIT_PATH, WANTS_PATH
from lab.site import read_roster
from tests.e2e.control import ROOT, Run, fingerprint, on, pyinfra
from tests.e2e.ring import INVENTORY, without_transit

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.ring, pytest.mark.timeout(3600)]

SPARKS = ("vspark1", "vspark2", "vspark3", "vspark4")
OPPOSITE = (SPARKS[::2], SPARKS[1::2])
MIDDLE = SPARKS[1]
OURS = (SYSCTL_PATH, UNIT_PATH, WANTS_PATH)

RUNS_DOCKER = "for i in 1 2 3; do systemctl start docker.service && exit 0; sleep 5; done; exit 1"
"""On a busy host it can take longer to start than systemd gives it."""

Converge = Callable[..., Run]


def together(lab: "Lab", script: str, names: tuple[str, ...] = SPARKS) -> None:
    """The script on several Sparks at once."""
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: on(lab, name, script, seconds=600), names))


@pytest.fixture(scope="module")
def converge(tmp_path_factory: pytest.TempPathFactory) -> Converge:
    """pyinfra with the fabric's deploy on the ring, with transit or without."""
    folder = tmp_path_factory.mktemp("ring")
    sites = {True: INVENTORY, False: without_transit(folder)}

    def run(*arguments: str, transit: bool = True) -> Run:
        return pyinfra(folder / "trace.jsonl", sites[transit], "deploys/fabric.py", *arguments)

    return run


@pytest.fixture(scope="module")
def desired() -> dict[str, DesiredSpark]:
    roster, _ = read_roster(str(ROOT / INVENTORY))
    return {name: roster.desired_for(name) for name in SPARKS}


@pytest.fixture(scope="module")
def passing_on(ring: "Lab", converge: Converge) -> Iterator["Lab"]:
    """The ring, converged from blank in one run while Docker forbids forwarding on each of its Sparks."""
    ring.reset()
    together(ring, "systemctl enable --quiet docker.service; " + RUNS_DOCKER)
    run = converge("-y")
    assert run.status == 0, run.said
    yield ring
    ring.reset()


def lost(lab: "Lab", desired: dict[str, DesiredSpark]) -> list[str]:
    """The pings between opposite Sparks that get no answer: to each address, and from that of the other way round."""
    looks = []
    for one, other in (*OPPOSITE, *(pair[::-1] for pair in OPPOSITE)):
        addresses = [str(end.address.ip) for end in desired[other].rail_ends]
        looks += [(one, f"-M do -s 8972 {address}") for address in addresses]
        looks += [(one, f"-I {desired[one].rail_ends[0].address.ip} {addresses[-1]}")]
    with ThreadPoolExecutor(len(SPARKS)) as pool:
        answers = pool.map(lambda look: lab.ssh(look[0], f"ping -c 1 -W 10 {look[1]}", timeout=120).returncode, looks)
    return [f"{name} {ping}" for (name, ping), status in zip(looks, answers, strict=True) if status]


def assert_as_desired(converge: Converge, transit: bool = True) -> None:
    dry = converge("--dry", transit=transit)
    assert dry.status == 0, dry.said
    assert all(f"{name} is as desired" in dry.err for name in SPARKS), dry.said


def test_opposite_sparks_reach_each_other_while_docker_drops(
    passing_on: "Lab", converge: Converge, desired: dict[str, DesiredSpark]
) -> None:
    assert "-P FORWARD DROP" in on(passing_on, MIDDLE, "iptables -S FORWARD")
    assert lost(passing_on, desired) == []
    before = fingerprint(passing_on, SPARKS)
    assert_as_desired(converge)
    assert fingerprint(passing_on, SPARKS) == before, "a dry run wrote something"


def test_they_still_do_after_docker_was_restarted_or_stopped(
    passing_on: "Lab", converge: Converge, desired: dict[str, DesiredSpark]
) -> None:
    """A Docker that stops leaves its DROP behind. One that starts runs our unit, after which nothing is due."""
    together(passing_on, "systemctl stop docker.socket docker.service", SPARKS[1::2])
    together(passing_on, "systemctl restart docker.service", SPARKS[::2])
    assert lost(passing_on, desired) == []
    together(passing_on, RUNS_DOCKER, SPARKS[1::2])
    settled = "for i in $(seq 60); do systemctl is-active -q sparks-transit || exit 0; sleep 1; done; exit 1"
    together(passing_on, settled)
    assert lost(passing_on, desired) == []
    assert_as_desired(converge)


def test_they_still_do_after_a_power_cycle_of_the_spark_between_them(
    passing_on: "Lab", converge: Converge, desired: dict[str, DesiredSpark]
) -> None:
    passing_on.power_cycle(MIDDLE)
    started = "systemctl is-system-running --wait >/dev/null || true; systemctl is-active docker.service"
    assert on(passing_on, MIDDLE, started, seconds=600).strip() == "active"
    assert "-P FORWARD DROP" in on(passing_on, MIDDLE, "iptables -S FORWARD")
    assert lost(passing_on, desired) == []
    assert_as_desired(converge)


def test_transit_that_is_not_asked_for_any_more_is_gone(
    passing_on: "Lab", converge: Converge, desired: dict[str, DesiredSpark]
) -> None:
    run = converge("-y", transit=False)
    assert run.status == 0, run.said
    for name in SPARKS:
        left = (
            f"ls {' '.join(map(shlex.quote, OURS))} 2>/dev/null; iptables -S | grep SPARKS; ip route | grep via.10.10"
        )
        assert on(passing_on, name, f"({left}) || true") == ""
    assert len(lost(passing_on, desired)) > 0
    assert_as_desired(converge, transit=False)
