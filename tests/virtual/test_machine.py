"""The QEMU command line of a machine."""

from itertools import pairwise
from pathlib import Path

import pytest

from virtual.cabling import SLOT_OF, cabling
from virtual.image import Image
from virtual.machine import Machine, Ports, arguments, machines, rail_nic

IMAGE = Image(Path("/cache/image"))
PAIR = cabling("pair", 2)


RUN = Path("/checkout/.virtual")


def command_line(machine: Machine, run: Path = RUN, snapshot: str | None = None) -> list[str]:
    return arguments(machine, PAIR, IMAGE, run, Ports(2201, 2301), snapshot)


def values(argv: list[str], option: str) -> list[str]:
    return [value for name, value in pairwise(argv) if name == option]


@pytest.fixture
def both() -> tuple[list[str], list[str]]:
    one, other = machines(PAIR)
    return command_line(one), command_line(other)


def cable_ends(argv: list[str]) -> dict[str, tuple[str, str]]:
    """Local and remote socket of each rail netdev."""
    found = {}
    for netdev in values(argv, "-netdev"):
        words = dict(word.partition("=")[::2] for word in netdev.split(","))
        if "local.path" in words:
            found[words["id"]] = words["local.path"], words["remote.path"]
    return found


def test_a_cabled_port_sends_to_where_its_peer_listens(both: tuple[list[str], list[str]]) -> None:
    one, other = map(cable_ends, both)
    for netdev in ("rail-enp1s0f1np1", "rail-enP2p1s0f1np1"):
        assert one[netdev] == other[netdev][::-1]


def test_a_port_without_cable_sends_to_nobody(both: tuple[list[str], list[str]]) -> None:
    local = {here for argv in both for here, _ in cable_ends(argv).values()}
    for netdev in ("rail-enp1s0f0np0", "rail-enP2p1s0f0np0"):
        assert cable_ends(both[0])[netdev][1] not in local


def test_rail_ports_are_in_the_slots_their_names_come_from() -> None:
    devices = values(command_line(machines(PAIR)[0]), "-device")
    for interface, slot in SLOT_OF.items():
        assert any(f"netdev=rail-{interface},addr={slot:#x}," in device for device in devices)


def test_a_card_that_is_put_back_is_the_one_of_the_command_line() -> None:
    machine = machines(PAIR)[0]
    devices = [dict(word.partition("=")[::2] for word in device.split(",")[1:])
               for device in values(command_line(machine), "-device")]  # fmt: skip
    for interface in SLOT_OF:
        assert {key: value for key, value in rail_nic(machine, interface).items() if key != "driver"} in devices


def test_no_mac_address_or_machine_id_is_used_twice() -> None:
    ring = machines(cabling("ring4", 8))
    macs = [machine.mac(interface) for machine in ring for interface in SLOT_OF]
    assert len(set(macs)) == len(macs)
    assert len({machine.machine_id for machine in ring}) == len(ring)


def test_only_loopback_is_listened_on(both: tuple[list[str], list[str]]) -> None:
    forwards = [word for argv in both for netdev in values(argv, "-netdev") for word in netdev.split(",")
                if word.startswith("hostfwd=")]  # fmt: skip
    to_both_addresses = ["hostfwd=tcp:127.0.0.1:2201-10.99.0.11:22", "hostfwd=tcp:127.0.0.1:2301-10.99.0.12:22"]
    assert forwards == to_both_addresses * 2
    assert all("restrict=on" in values(argv, "-netdev")[0] for argv in both)


def test_socket_paths_stay_short_in_a_deep_checkout() -> None:
    deep = Path("/" + "/".join(["a-folder-with-a-long-name"] * 8))
    argv = command_line(machines(PAIR)[0], deep)
    paths = [path for ends in cable_ends(argv).values() for path in ends]
    paths += [value.removeprefix("unix:").partition(",")[0] for value in values(argv, "-qmp")]
    assert all(len(path) < 100 for path in paths)


def test_a_snapshot_is_woken_only_when_asked_for() -> None:
    machine = machines(PAIR)[0]
    assert "-loadvm" not in command_line(machine)
    assert values(command_line(machine, snapshot="clean"), "-loadvm") == ["clean"]


def test_a_machine_that_boots_by_grub_is_given_no_kernel() -> None:
    machine = machines(PAIR)[0]
    other = arguments(machine, PAIR, Image(IMAGE.directory, boots_by_grub=True), RUN, Ports(2201, 2301), None)
    kernel = {"-kernel", "-initrd", "-append"}
    assert kernel < set(command_line(machine))
    assert not kernel & set(other)
    left = [pair for pair in pairwise(command_line(machine)) if pair[0].startswith("-") and pair[0] not in kernel]
    assert [pair for pair in pairwise(other) if pair[0].startswith("-")] == left
