"""Opposite Sparks of a ring reach each other through a neighbour that runs Docker, whatever happens to it."""

import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from fleet.desired import DesiredSpark
from fleet.transit.desired import SYSCTL_PATH, UNIT_PATH, WANTS_PATH
from lab.site import read_roster
from tests.e2e import control
from tests.e2e.control import ROOT, Run, fingerprint, on, pyinfra
from tests.e2e.ring import INVENTORY, RUNS_DOCKER, SPARKS, together, without_transit

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.ring, pytest.mark.nightly, pytest.mark.timeout(3600)]

OPPOSITE = (SPARKS[::2], SPARKS[1::2])
MIDDLE = SPARKS[1]
SETTLED = (
    "for i in $(seq 120); do systemctl list-jobs --no-legend | grep -q sparks-transit || exit 0; sleep 1; done; exit 1"
)
"""Our unit has come to its end: while it waits for Docker, or is at work, it has a job. It never is `active`."""
OURS = (SYSCTL_PATH, UNIT_PATH, WANTS_PATH)

Converge = Callable[..., Run]


@pytest.fixture(scope="module")
def converge(tmp_path_factory: pytest.TempPathFactory) -> Converge:
    """The fabric's deploy on the ring, with transit or without: as it is told to run, else converged."""
    folder = tmp_path_factory.mktemp("ring")
    sites = {True: INVENTORY, False: without_transit(folder)}

    def run(*arguments: str, transit: bool = True) -> Run:
        to_its_end = pyinfra if arguments else control.converge
        return to_its_end(folder / "trace.jsonl", sites[transit], "deploys/fabric.py", *arguments)

    return run


@pytest.fixture(scope="module")
def desired() -> dict[str, DesiredSpark]:
    roster, _ = read_roster(str(ROOT / INVENTORY))
    return {name: roster.desired_for(name) for name in SPARKS}


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
    converged_ring: "Lab", converge: Converge, desired: dict[str, DesiredSpark]
) -> None:
    assert "-P FORWARD DROP" in on(converged_ring, MIDDLE, "iptables -S FORWARD")
    assert lost(converged_ring, desired) == []
    before = fingerprint(converged_ring, SPARKS)
    assert_as_desired(converge)
    assert fingerprint(converged_ring, SPARKS) == before, "a dry run wrote something"


def test_they_still_do_after_docker_was_restarted_or_stopped(
    converged_ring: "Lab", converge: Converge, desired: dict[str, DesiredSpark]
) -> None:
    """A Docker that stops leaves its DROP behind. One that starts runs our unit, after which nothing is due."""
    together(converged_ring, "systemctl stop docker.socket docker.service", SPARKS[1::2])
    together(converged_ring, f"systemctl restart docker.service; {SETTLED}", SPARKS[::2])
    assert lost(converged_ring, desired) == []
    together(converged_ring, f"({RUNS_DOCKER}) && {SETTLED}", SPARKS[1::2])
    assert lost(converged_ring, desired) == []
    assert_as_desired(converge)


def test_they_still_do_after_a_power_cycle_of_the_spark_between_them(
    converged_ring: "Lab", converge: Converge, desired: dict[str, DesiredSpark]
) -> None:
    converged_ring.power_cycle(MIDDLE)
    started = "systemctl is-system-running --wait >/dev/null || true; systemctl is-active docker.service"
    assert on(converged_ring, MIDDLE, started, seconds=600).strip() == "active"
    assert "-P FORWARD DROP" in on(converged_ring, MIDDLE, "iptables -S FORWARD")
    assert lost(converged_ring, desired) == []
    assert_as_desired(converge)


@pytest.mark.usefixtures("spoils")
def test_transit_that_is_not_asked_for_any_more_is_gone(
    converged_ring: "Lab", converge: Converge, desired: dict[str, DesiredSpark]
) -> None:
    run = converge(transit=False)
    assert run.status == 0, run.said
    for name in SPARKS:
        left = (
            f"ls {' '.join(map(shlex.quote, OURS))} 2>/dev/null; iptables -S | grep SPARKS; ip route | grep via.10.10"
        )
        assert on(converged_ring, name, f"({left}) || true") == ""
    assert len(lost(converged_ring, desired)) > 0
    assert_as_desired(converge, transit=False)
