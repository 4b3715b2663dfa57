"""GID tables: which index reaches which address, from sysfs and from the tools."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.links import Link
from fleet.roce import RoceDevice, RoceGid, common_index, ipv4_of_gid, usable_gids
from fleet.roce_sysfs import active_mtus, parse_roce_devices, parse_roce_gids
from fleet.roce_tools import (
    link_of,
    parse_ibdev2netdev,
    parse_rdma_link,
    parse_rdma_link_text,
    parse_show_gids,
)
from tests.conftest import CaseText, case_text

CLASS = "/sys/class/infiniband"


def usable(number: str) -> list[tuple[str, int, str | None]]:
    """The usable GIDs of a case: device, index and interface."""
    gids = parse_roce_gids(case_text(number, "input.sysfs.txt"))
    return [(gid.device, gid.index, gid.netdev) for gid in gids if gid.is_usable]


USABLE = {
    "060": [("roceP2p1s0f1", 3, "enP2p1s0f1np1"), ("rocep1s0f1", 3, "enp1s0f1np1")],
    "061": [("rocep1s0f0", 3, "enp1s0f0np0")],
    "062": [("roceP2p1s0f1", 4, "enP2p1s0f1np1"), ("rocep1s0f1", 3, "enp1s0f1np1")],
    "066": [("mlx5_bond_0", 3, "bond0")],
    "067": [],
    "068": [],
    "074": [("rocep1s0f0", 3, "enp1s0f0np0"), ("rocep1s0f0", 7, "enp1s0f0np0.100")],
}


@pytest.mark.parametrize("number", sorted(USABLE))
def test_usable_gids_of_a_case(number: str) -> None:
    assert usable(number) == USABLE[number]


TWINS = (("enp1s0f1np1", "192.168.100.10/24"), ("enP2p1s0f1np1", "192.168.101.10/24"))


@pytest.mark.parametrize(("number", "index"), [("060", 3), ("062", None)])
def test_one_index_serves_all_devices_or_none_does(case: CaseText, number: str, index: int | None) -> None:
    gids = parse_roce_gids(case(number, "input.sysfs.txt"))
    assert common_index(gids, TWINS) == index


def test_an_end_without_a_usable_gid_leaves_no_common_index(case: CaseText) -> None:
    gids = parse_roce_gids(case("060", "input.sysfs.txt"))
    assert common_index(gids, [*TWINS, ("enp1s0f0np0", "192.168.100.99/24")]) is None
    assert common_index(gids, []) is None


def test_indices_are_numbers_and_the_table_is_read_to_its_end(case: CaseText) -> None:
    gids = parse_roce_gids(case("064", "input.sysfs.txt"))
    assert [gid.index for gid in gids] == list(range(20))
    assert next((gid.index, gid.ipv4) for gid in gids if gid.is_usable) == (3, "10.0.1.1")
    assert {gid.netdev for gid in gids[16:]} == {"ens1np0.108", "ens1np0.109"}


def test_the_address_decides_among_an_interface_and_its_vlans(case: CaseText) -> None:
    gids = parse_roce_gids(case("074", "input.sysfs.txt"))
    assert [gid.index for gid in usable_gids(gids, "enp1s0f0np0.100", "10.100.0.5")] == [7]
    assert [gid.index for gid in usable_gids(gids, "enp1s0f0np0", "192.168.100.10/24")] == [3]
    assert usable_gids(gids, "enp1s0f0np0", "10.100.0.5") == ()
    assert len({gid.key for gid in gids}) == len(gids) == 8


def test_infiniband_is_not_roce_whatever_its_gids_say(case: CaseText) -> None:
    (device,) = parse_roce_devices(case("067", "input.sysfs.txt"))
    (gid,) = parse_roce_gids(case("067", "input.sysfs.txt"))
    assert (device.is_roce, device.is_active, device.rate_gbps) == (False, True, 200.0)
    assert (gid.type, gid.netdev) == ("IB/RoCE v1", None)


def test_the_rate_of_a_port_that_is_down_is_none(case: CaseText) -> None:
    (device,) = parse_roce_devices(case("068", "input.sysfs.txt"))
    assert device == RoceDevice(
        device="rocep1s0f0",
        port=1,
        state=1,
        state_name="DOWN",
        phys_state=3,
        phys_state_name="Disabled",
        link_layer="Ethernet",
        netdevs=("enp1s0f0np0",),
    )


def test_interfaces_are_found_and_not_derived(case: CaseText) -> None:
    devices = parse_roce_devices(case("060", "input.sysfs.txt"))
    assert {device.device: device.netdevs for device in devices} == {
        "rocep1s0f1": ("enp1s0f1np1",),
        "roceP2p1s0f1": ("enP2p1s0f1np1",),
    }
    assert {(device.rate_gbps, device.is_active, device.is_roce) for device in devices} == {(200.0, True, True)}


def port(**files: str) -> str:
    values = {"state": "4: ACTIVE", "link_layer": "Ethernet", **files}
    return "".join(f"{CLASS}/rocep1s0f1/ports/1/{name}\t{value}\n" for name, value in values.items())


@pytest.mark.parametrize(
    ("state", "rate", "gbps"),
    [
        ("4: ACTIVE", "200 Gb/sec (4X HDR)", 200.0),
        ("4: ACTIVE", "2.5 Gb/sec (1X SDR)", 2.5),
        ("4: ACTIVE", "!EINVAL", None),
        ("5: ACTIVE_DEFER", "200 Gb/sec (2X NDR)", None),
        ("2: INIT", "40 Gb/sec (4X QDR)", None),
        ("3: ARMED", "40 Gb/sec (4X QDR)", None),
    ],
)
def test_a_rate_counts_only_where_the_port_is_active(state: str, rate: str, gbps: float | None) -> None:
    (device,) = parse_roce_devices(port(state=state, rate=rate))
    assert device.rate_gbps == gbps


def test_a_soft_device_names_its_interface_as_its_parent() -> None:
    text = port() + f"{CLASS}/rocep1s0f1/parent\tenp1s0f1np1\n"
    assert parse_roce_devices(text)[0].netdevs == ("enp1s0f1np1",)


def test_a_pci_address_is_the_kernels() -> None:
    text = port() + f"{CLASS}/rocep1s0f1/device/uevent\tPCI_SLOT_NAME=0000:01:00.1\n"
    assert parse_roce_devices(text)[0].pci == "0000:01:00.1"


DEVINFO = """\
hca_id:\trocep1s0f1
\t\tport:\t1
\t\t\tactive_mtu:\t\t4096 (5)
hca_id:\tmlx5_2
\t\tport:\t1
\t\t\tactive_mtu:\t\t1024 (3)
\t\tport:\t2
\t\t\tactive_mtu:\t\t2048 (4)
"""


def test_the_path_mtu_is_of_a_device_and_port() -> None:
    assert active_mtus(DEVINFO) == {("rocep1s0f1", 1): 4096, ("mlx5_2", 1): 1024, ("mlx5_2", 2): 2048}
    assert parse_roce_devices(port(), DEVINFO)[0].active_mtu == 4096
    assert parse_roce_devices(port(state="1: DOWN"), DEVINFO)[0].active_mtu is None


@pytest.mark.parametrize("lost", ["state", "link_layer"])
def test_a_port_that_is_read_in_part_is_not_observed(lost: str) -> None:
    text = port(**{lost: "!EINVAL"})
    for parse in (parse_roce_devices, parse_roce_gids):
        with pytest.raises(ValueError, match=f"rocep1s0f1 port 1: expected {lost}, found none"):
            parse(text)


def test_no_rdma_devices_is_an_empty_answer() -> None:
    assert parse_roce_devices("") == ()
    assert parse_roce_gids("") == ()


@pytest.mark.parametrize(
    ("gid", "ipv4"),
    [
        ("0000:0000:0000:0000:0000:ffff:c0a8:640a", "192.168.100.10"),
        ("0000:0000:0000:0000:0000:0000:0a00:0001", None),
        ("fe80:0000:0000:0000:0000:00ff:fe00:0001", None),
    ],
)
def test_only_a_mapped_gid_is_an_ipv4_address(gid: str, ipv4: str | None) -> None:
    assert ipv4_of_gid(gid) == ipv4


def test_rdma_link_joins_by_interface(case: CaseText) -> None:
    ports = parse_rdma_link(case("070", "input.json"))
    links = [
        Link(name="eth9", ifindex=0, mtu=1500, up=True, carrier=True, operstate="UP"),
        Link(name="enp1s0f0np0", ifindex=3, mtu=9000, up=True, carrier=True, operstate="UP"),
    ]
    found = {each.device: (each.state, link_of(each, links)) for each in ports}
    assert found == {
        "rocep1s0f0": ("DOWN", links[1]),
        "rocep1s0f1": ("ACTIVE", None),
        "mlx5_4": ("ACTIVE", None),
    }


def test_rdma_link_on_a_host_without_rdma(case: CaseText) -> None:
    assert parse_rdma_link("", stderr=case("070", "input.stderr-no-module.txt")) == ()
    assert parse_rdma_link("[ ]") == ()
    with pytest.raises(ValueError, match="Expecting value"):
        parse_rdma_link("", stderr="Permission denied")


def test_a_bonds_address_is_not_on_the_interface_that_rdma_link_names(case: CaseText) -> None:
    (shown,) = parse_rdma_link_text(case("066", "input.rdma.txt"))
    gids = parse_roce_gids(case("066", "input.sysfs.txt"))
    assert shown.netdev == "enp193s0f0np0"
    assert usable_gids(gids, "enp193s0f0np0", "192.0.2.6") == ()
    assert [gid.index for gid in usable_gids(gids, "bond0", "192.0.2.6")] == [3]


def test_show_gids_has_empty_columns(case: CaseText) -> None:
    gids = parse_show_gids(case("071", "input.txt"))
    shown = [(gid.device, gid.index, gid.type, gid.netdev, gid.ipv4) for gid in gids]
    assert shown == [
        ("rocep1s0f0", 0, "IB/RoCE v1", "enp1s0f0np0", None),
        ("rocep1s0f0", 1, "RoCE v2", "enp1s0f0np0", None),
        ("rocep1s0f0", 2, "IB/RoCE v1", "enp1s0f0np0", "192.168.100.10"),
        ("rocep1s0f0", 3, "RoCE v2", "enp1s0f0np0", "192.168.100.10"),
        ("rocep1s0f0", 10, "IB/RoCE v1", "enp1s0f0np0", None),
        ("rocep1s0f1", 0, "IB/RoCE v1", None, None),
    ]
    assert not any(gid.is_usable for gid in gids), "show_gids does not say whether the port is active"


def test_ibdev2netdev_in_both_its_forms(case: CaseText) -> None:
    short = {
        each.device: (each.netdev, each.netdev_up, each.state) for each in parse_ibdev2netdev(case("072", "input.txt"))
    }
    assert short == {
        "mlx5_0": ("ens1f0np0", True, None),
        "mlx5_bond_0": ("bond0", True, None),
        "mlx5_4": ("ib0", True, None),
        "rocep1s0f0": ("enp1s0f0np0", False, None),
        "rocep1s0f1": ("enp1s0f1np1", True, None),
    }
    long = [each.to_json() for each in parse_ibdev2netdev(case("072", "input.v.txt"))]
    assert [(each["pci"], each["device"], each["state"], each["netdev"], each["netdev_up"]) for each in long] == [
        ("0004:01:00.0", "mlx5_0", "ACTIVE", "enP4p1s0", True),
        ("0000:5e:00.1", "mlx5_1", "DOWN", "enp94s0f1", False),
    ]
    assert "MT0000X00000" not in json.dumps(long), "a serial number"


def test_ibdev2netdev_of_two_twins(case: CaseText) -> None:
    up = [each.device for each in parse_ibdev2netdev(case("060", "input.ibdev2netdev.txt")) if each.netdev_up]
    assert up == ["roceP2p1s0f1", "rocep1s0f1"], "one cable is two interfaces, one in each PCI domain"


def test_an_interface_may_be_missing() -> None:
    (found,) = parse_ibdev2netdev("mlx5_4 port 1 ==>  (Down)\n")
    assert (found.netdev, found.netdev_up) == (None, False)


@given(st.sets(st.integers(0, 1023), max_size=20).flatmap(lambda each: st.permutations(sorted(each))))
def test_the_order_of_lines_never_matters(indices: list[int]) -> None:
    lines = [
        f"{CLASS}/rocep1s0f1/ports/1/{table}/{index}\t{value}\n"
        for index in indices
        for table, value in (
            ("gid_attrs/types", "RoCE v2"),
            ("gids", f"0000:0000:0000:0000:0000:ffff:0a00:{index:04x}"),
        )
    ]
    assert [gid.index for gid in parse_roce_gids("".join(lines) + port())] == sorted(indices)


@given(
    st.text() | st.text().map(lambda text: f"{CLASS}/a/ports/1/{text}") | st.text().map(lambda text: port(state=text))
)
def test_any_text_is_read_or_a_value_error(text: str) -> None:
    parsers = (
        parse_roce_devices,
        parse_roce_gids,
        parse_rdma_link,
        parse_rdma_link_text,
        parse_show_gids,
        parse_ibdev2netdev,
    )
    for parse in parsers:
        try:
            parse(text)
        except ValueError:
            continue


def test_a_gid_is_usable_only_where_all_of_it_is_known() -> None:
    whole = RoceGid(
        device="a",
        port=1,
        index=3,
        gid="::ffff:10.0.0.1",
        type="RoCE v2",
        netdev="e",
        ipv4="10.0.0.1",
        link_layer="Ethernet",
        port_active=True,
    )
    assert whole.is_usable
    for lacking in ("netdev", "ipv4", "link_layer", "port_active"):
        assert not whole.model_copy(update={lacking: None}).is_usable
