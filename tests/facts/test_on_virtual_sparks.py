"""The facts against a real kernel, NetworkManager and soft-RoCE, where what they say can be provoked."""

from typing import TYPE_CHECKING, Any

import pytest

from facts.look import Look
from facts.netplan import NetplanEffective
from facts.network import Connections, Links
from facts.roce import RoceDevices, RoceGids
from fleet.connections import Connections as NmConnections
from fleet.connections import Profile
from fleet.keyfile import Storage
from fleet.links import find_link
from fleet.roce import usable_gids

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = pytest.mark.virtual

CABLED = "enp1s0f1np1"
"""An interface that has a cable in the layout `pair`."""


def observe(lab: "Lab", fact: type[Look[Any]]) -> Any:
    look = fact()
    command = look.command() if callable(look.command) else look.command
    done = lab.ssh(lab.state.machines[0].name, str(command), timeout=120)
    assert done.returncode == 0, done.stderr
    return look.read(done.stdout)


def act(lab: "Lab", command: str) -> None:
    done = lab.ssh(lab.state.machines[0].name, f"sudo -n sh -ec '{command}'", timeout=120)
    assert done.returncode == 0, done.stderr


def test_an_address_set_by_hand_works_and_is_not_durable(fresh_lab: "Lab") -> None:
    act(fresh_lab, f"ip addr add 192.168.102.10/24 dev {CABLED}; ip link set {CABLED} mtu 9000")
    link = find_link(observe(fresh_lab, Links), CABLED)
    assert link
    assert link.has_address("192.168.102.10/24")
    assert (link.mtu, link.carrier) == (9000, True)
    (gid,) = usable_gids(observe(fresh_lab, RoceGids), CABLED, "192.168.102.10/24")
    assert gid.device == "rocep1s0f1"
    (device,) = (each for each in observe(fresh_lab, RoceDevices) if CABLED in each.netdevs)
    assert (device.is_active, device.active_mtu) == (True, 4096)
    assert not observe(fresh_lab, Connections).keeps_address(CABLED, "192.168.102.10/24")

    act(
        fresh_lab,
        f"ip addr del 192.168.102.10/24 dev {CABLED}; ip addr add 10.1.3.1/24 dev {CABLED}; "
        f"ip addr add 192.168.102.10/24 dev {CABLED}",
    )
    (moved,) = usable_gids(observe(fresh_lab, RoceGids), CABLED, "192.168.102.10/24")
    assert moved.key == gid.key
    assert moved.index != gid.index, "a GID takes the first index that is free"


ADD = f"nmcli --wait 30 con add type ethernet ifname {CABLED} con-name rail ip4 192.168.102.10/24 save"
UP = "nmcli --wait 30 con up rail"
CHANGE_FOR_NOW = "nmcli con modify --temporary rail ipv4.addresses 192.168.102.99/24"


def rail_profile(lab: "Lab") -> Profile:
    profile: Profile | None = observe(lab, Connections).active_profile(CABLED)
    assert profile
    assert profile.name == "rail"
    return profile


def test_a_profile_says_whether_it_survives(fresh_lab: "Lab") -> None:
    act(fresh_lab, f"{ADD} no; {UP}")
    unsaved = rail_profile(fresh_lab)
    assert (unsaved.storage, unsaved.keeps_address("192.168.102.10/24")) == (Storage.RUNTIME, False)

    act(fresh_lab, f"nmcli con delete rail; {ADD} yes; {UP}")
    saved = rail_profile(fresh_lab)
    assert (saved.storage, saved.keeps_address("192.168.102.10/24")) == (Storage.PERSISTENT, True)

    act(fresh_lab, f"{CHANGE_FOR_NOW}; {UP}")
    changed = rail_profile(fresh_lab)
    assert (changed.storage, changed.survives_reboot) == (Storage.RUNTIME, False)
    assert changed.keeps_address("192.168.102.10/24"), "it comes back at the next boot"
    assert not changed.keeps_address("192.168.102.99/24")

    act(fresh_lab, "systemctl stop NetworkManager")
    stopped = observe(fresh_lab, Connections)
    assert stopped == NmConnections(running=False, keyfiles=stopped.keyfiles), "its files are still there"
    assert [one.name for one in stopped.keyfiles] == ["rail"]


NETWORKD = "systemctl show systemd-networkd --property ActiveState,ExecMainStartTimestampMonotonic"


def test_netplan_itself_is_asked_and_nothing_is_started_for_it(fresh_lab: "Lab") -> None:
    name = fresh_lab.state.machines[0].name
    before = fresh_lab.ssh(name, NETWORKD).stdout
    found = observe(fresh_lab, NetplanEffective)
    assert found.version
    assert found.devices
    assert (found.complaint, found.problems, found.disagreements) == (None, (), ())
    assert all(setting.sources for one in found.devices for setting in one.settings)
    assert fresh_lab.ssh(name, NETWORKD).stdout == before
