"""Rails on virtual Sparks: proven in both directions, and what is wrong with one told apart and put right."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.control import ROOT, converge, on, pyinfra, sparks

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.nightly, pytest.mark.timeout(3600)]

ONE, OTHER = "enp1s0f1np1", "enP2p1s0f1np1"
"""The two twins of the pair's one cable: rails 102 and 103."""


@pytest.fixture(scope="module")
def names(side_lab: "Lab") -> tuple[str, ...]:
    return tuple(machine.name for machine in side_lab.state.machines)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ssh") / "trace.jsonl"


@pytest.fixture(scope="module")
def rails(side_lab: "Lab", tmp_path_factory: pytest.TempPathFactory) -> str:
    """A site of the virtual Sparks that is about rails alone: each twin a fabric, with a GID index and a floor.

    Soft-RoCE puts an address's one GID at the first free index, 1. It moves 0.01 to 0.4 Gb/s: over the first floor
    and under the second on any machine.
    """
    values: dict[str, Any] = {}
    exec((ROOT / "group_data" / "virtual.py").read_text(), values)
    (cable,) = values["roster"]["fabrics"]["rails"]["cables"]
    fabrics = {
        f"rail{rail['rail']}": {"shape": "pair", "gid_index": 1, "floor_gbps": floor, "cables": [{"rails": [rail]}]}
        for rail, floor in zip(cable["rails"], (0.0001, 50.0), strict=True)
    }
    roster = {"sparks": values["roster"]["sparks"], "fabrics": fabrics}
    hosts = {name: dict(data) for name, data in side_lab.hosts("pair").items()}
    folder = tmp_path_factory.mktemp("site")
    (folder / "group_data").mkdir()
    (folder / "group_data" / "rails.py").write_text(f"roster = {roster!r}\n")
    (folder / "rails.py").write_text(
        f"from lab.site import site\nrails = site(__file__, {hosts!r}, known_hosts={side_lab.state.known_hosts!r})\n"
    )
    return str(folder / "rails.py")


@pytest.fixture(scope="module")
def converged(side_lab: "Lab", rails: str, trace: Path) -> "Lab":
    side_lab.reset()
    run = converge(trace, rails, "deploys/fabric.py")
    assert run.status == 0, run.said
    return side_lab


def way(rail: int, source: str, target: str, interface: str) -> str:
    return f"rail {rail} ({source} {interface} -> {target} {interface})"


def test_every_rail_answers_at_its_whole_mtu_in_both_directions(
    converged: "Lab", rails: str, names: tuple[str, ...]
) -> None:
    done = sparks("pings", "-i", rails)
    assert done.returncode == 0, done.stdout + done.stderr
    for source, target in (names, names[::-1]):
        for rail, interface in ((102, ONE), (103, OTHER)):
            assert f"{way(rail, source, target, interface)}: answers at MTU 9000" in done.stdout


def test_an_mtu_that_somebody_lowered_is_found_at_its_end(converged: "Lab", rails: str, names: tuple[str, ...]) -> None:
    first, second = names
    on(converged, second, f"ip link set {ONE} mtu 1500")
    done = sparks("pings", "-i", rails)
    on(converged, second, f"ip link set {ONE} mtu 9000")
    assert done.returncode == 1, done.stdout + done.stderr
    lowered = way(102, second, first, ONE)
    assert f"{lowered}: expected an answer at MTU 9000, found message too long" in done.stdout
    assert f"look at the MTU of {second} {ONE}" in done.stdout
    assert f"{way(103, second, first, OTHER)}: answers" in done.stdout


def test_bandwidth_is_measured_both_ways_on_each_twin_and_leaves_nothing(
    converged: "Lab", rails: str, names: tuple[str, ...]
) -> None:
    done = sparks("bandwidth", "-i", rails, "--json")
    found = {
        (each["direction"]["rail"], each["direction"]["source"]["spark"]): each for each in json.loads(done.stdout)
    }
    assert set(found) == {(rail, name) for rail in (102, 103) for name in names}, done.stderr
    assert all(each["gbps"] > 0 and each["gid_index"] == 1 for each in found.values()), done.stdout
    assert {key[0]: each["judgement"] for key, each in found.items()} == {102: "ok", 103: "below floor"}
    assert done.returncode == 1
    for source, target in (names, names[::-1]):
        assert f"{way(103, source, target, OTHER)}: expected at least 50 Gb/s, found" in done.stderr
    for name in names:
        assert on(converged, name, "pgrep ib_write_bw || true; ss -Hltn 'sport >= 18600 and sport < 18700'") == ""


MOVE_GID = """
ip addr del {address} dev {port}; ip addr add 10.9.9.9/24 dev {port}; ip addr add {address} dev {port}
ip addr del 10.9.9.9/24 dev {port}
"""
"""What a link that goes away while RDMA holds its entry does: the address comes back at another index."""


def test_a_gid_that_moved_and_a_port_that_is_down_are_put_right_but_not_under_somebody(
    converged: "Lab", rails: str, names: tuple[str, ...], trace: Path
) -> None:
    first, second = names
    fabric = (rails, "deploys/fabric.py")
    on(converged, first, MOVE_GID.format(address="192.168.102.10/24", port=ONE))
    on(converged, second, f"ip link set {OTHER} down")
    on(converged, first, "systemd-run -q --unit held --collect timeout 600 rping -s -a 192.168.102.10 -C 1000")
    held = pyinfra(trace, *fabric, "-y")
    assert held.status == 1, held.said
    assert (
        f"{first} {ONE}: expected nobody to use rocep1s0f1 while its interface goes down and up, found rping"
        in held.err
    )
    assert "refused, nothing was written" in held.err
    on(converged, first, "systemctl stop held")
    run = converge(trace, *fabric)
    assert run.status == 0, run.said
    assert f"{first} {ONE}: GID index 2 -> a RoCE v2 GID for 192.168.102.10 at index 1" in run.err
    assert f"{second} {OTHER}: port down" in run.err
    dry = pyinfra(trace, *fabric, "--dry")
    assert all(f"{name} is as desired" in dry.err for name in names), dry.said


def test_no_device_no_interface_no_cable_and_kept_down_are_four_findings(
    converged: "Lab", rails: str, names: tuple[str, ...], trace: Path
) -> None:
    """A card that is gone takes the carrier from the far end of its cable; one without a driver does not."""
    first, second = names
    converged.set_card(first, ONE, present=False)
    on(converged, first, "echo 0000:00:08.0 > /sys/bus/pci/drivers/virtio-pci/unbind")
    on(converged, second, f"nmcli --wait 30 device disconnect {OTHER}")
    run = pyinfra(trace, rails, "deploys/fabric.py", "--dry")
    assert run.status == 1, run.said
    for line in (
        f"{first} {ONE}: expected its device at PCI 0000:00:07.0, "
        f"for rail 102 ({first} {ONE} - {second} {ONE}), found no network device there",
        f"{first} {OTHER}: expected the interface on the host, found PCI 0000:00:08.0 without a driver",
        f"{second} {ONE}: expected a live cable on rail 102 ({second} {ONE} - {first} {ONE}), found no carrier",
        f"{second} {OTHER}: expected its port up for rail 103 ({second} {OTHER} - {first} {OTHER}), "
        "found it disconnected",
    ):
        assert line in run.err, run.said
