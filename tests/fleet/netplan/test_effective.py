"""What a definition binds, alone and in company; compared with the keyfiles of netplan 1.1.2 (2026-11)."""

from pathlib import Path

import pytest

from fleet.netplan import Binds, NetplanFile, binding, durable_files_for, effective
from tests.fleet.netplan.host import look, write

NM = "network: {renderer: NetworkManager, ethernets: {%s}}\n"
UUID = "0a1b2c3d-1111-4e2e-8f00-000000000001"
MAC = "00:11:22:33:44:55"


def ethernets(root: Path, *definitions: str) -> tuple[NetplanFile, ...]:
    return look(write(root, {f"{number}.yaml": NM % text for number, text in enumerate(definitions)}))


@pytest.mark.parametrize(
    ("definitions", "expected"),
    [
        (["e0: {}"], Binds(interface="e0")),
        (["e0: {match: {}}"], Binds()),
        (["e0: {dhcp4: true}", "e0: {match: {}}"], Binds(interface="e0")),
        (["e0: {dhcp4: true}, e0: {match: {}}"], Binds(interface="e0")),
        (["e0: {match: {}}", "e0: {dhcp4: true}"], Binds()),
        (["e0: {dhcp4: true}", f"e0: {{match: {{macaddress: '{MAC}'}}}}"],
         Binds(interface="e0", macaddress=MAC)),
        (["e0: {match: {name: a*}}", "e0: {match: {name: b}}"], Binds(interface="b")),
        (["e0: {match: {name: en?}}"], Binds(names=("en?",))),
        ([f"e0: {{match: {{macaddress: '{MAC.upper()}'}}}}"], Binds(macaddress=MAC)),
        (["e0: {match: {name: 'en*'}, set-name: lan0}"], Binds(interface="lan0")),
        (["e0: {match: {name: x}, networkmanager: {passthrough: {connection.interface-name: z}}}"],
         Binds(interface="z")),
        (["e0: {networkmanager: {passthrough: {match.interface-name: 'en*;'}}}"], Binds(interface="e0")),
        (["e0: {match: {}, networkmanager: {passthrough: {match.interface-name: 'en*;!enP*'}}}"],
         Binds(names=("en*", "!enP*"))),
        ([f"NM-{UUID}: {{dhcp4: true}}"], Binds(interface=f"NM-{UUID}")),
    ],
)  # fmt: skip
def test_what_a_definition_binds(definitions: list[str], expected: Binds, tmp_path: Path) -> None:
    files = ethernets(tmp_path, *definitions)
    (whole,) = effective(files).devices
    assert whole.device.binds == expected
    assert {device.binds for file in files for device in file.devices} == {expected}


def test_criteria_hit_what_they_can(tmp_path: Path) -> None:
    files = ethernets(tmp_path, f"a: {{match: {{name: 'enp*'}}}}, b: {{match: {{macaddress: '{MAC}'}}}}, enp1: {{}}")
    ids = [device.id for _, device in binding(files, "enp1")]
    assert ids == ["a", "b", "enp1"]
    assert [device.id for _, device in binding(files, "enp1", "02:00:00:00:00:01")] == ["a", "enp1"]
    (conflict,) = effective(files).conflicts
    assert conflict.ids == ("a", "enp1"), "a definition that binds by hardware address may be for another"


def test_a_wifi_definition_never_binds_a_wired_interface(tmp_path: Path) -> None:
    files = look(write(tmp_path, {"a.yaml": "network: {wifis: {w: {match: {}, access-points: {x: {}}}}}\n"}))
    assert binding(files, "enp1s0f0np0") == ()
    assert len(binding(files, "wlP9s9")) == 1


def test_a_file_in_run_hides_a_durable_one_only_until_the_next_boot(tmp_path: Path) -> None:
    durable, transient = NM % "e0: {addresses: [10.0.0.1/24]}", NM % "e0: {addresses: [10.0.0.2/24]}"
    files = look(write(tmp_path, {"etc/netplan/a.yaml": durable, "run/netplan/a.yaml": transient}))
    (one,) = effective(files).devices
    assert one.device.addresses == ("10.0.0.2/24",)
    assert [file.path for file in durable_files_for(files, "e0")] == ["/etc/netplan/a.yaml"]
    assert [file.path for file, _ in binding(files, "e0")] == ["/run/netplan/a.yaml"]


@pytest.mark.parametrize(
    ("first", "second", "refused"),
    [
        ("vlans: {v: {id: 1}}", "vlans: {v: {link: e}}", True),
        ("renderer: NetworkManager, vlans: {v: {id: 1, link: e}}", "vlans: {v: {mtu: 1400}}", False),
        ("bonds: {b: {interfaces: [e]}}", "ethernets: {e: {}}", True),
        ("ethernets: {e: {}}", "bonds: {b: {interfaces: [e]}}", False),
        ("ethernets: {e: {}}", "bonds: {b: {interfaces: [e]}, c: {interfaces: [e]}}", True),
        ("ethernets: {e: {}}", "wifis: {e: {access-points: {a: {}}}}", True),
        ("ethernets: {e: {networkmanager: {uuid: x}}}", "renderer: NetworkManager", True),
        ("renderer: NetworkManager", "ethernets: {e: {networkmanager: {uuid: x}}}", False),
        ("renderer: NetworkManager, ethernets: {e: {match: {driver: x}}}", "version: 2", True),
        ("tunnels: {t: {mode: gre}}", "tunnels: {t: {remote: 10.0.0.1}}", True),
    ],
)
def test_netplan_judges_a_file_by_those_before_it(first: str, second: str, refused: bool, tmp_path: Path) -> None:
    files = {"1.yaml": f"network: {{{first}}}\n", "2.yaml": f"network: {{{second}}}\n"}
    assert effective(look(write(tmp_path, files))).is_accepted is not refused


def test_a_port_knows_its_controller_from_either_side(tmp_path: Path) -> None:
    text = "network: {ethernets: {e: {match: {name: enp1}}}, bonds: {b: {interfaces: [e]}}}\n"
    port = effective(look(write(tmp_path, {"a.yaml": text}))).device("e")
    assert port
    assert (port.controller, port.device.binds.interface) == ("b", "enp1")
