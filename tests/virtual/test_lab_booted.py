"""Booted virtual Sparks: they look like Sparks, and reset, cables and power do what they say."""

import os
import signal
import time

import pytest

from virtual.lab import Lab
from virtual.process import identify

pytestmark = pytest.mark.virtual

CABLED = "enp1s0f1np1"
ROCE = {"rocep1s0f0", "roceP2p1s0f0", "rocep1s0f1", "roceP2p1s0f1"}


@pytest.fixture
def names(lab: Lab) -> list[str]:
    return [machine.name for machine in lab.state.machines]


def out(lab: Lab, name: str, command: str, user: str = "spark") -> str:
    done = lab.ssh(name, command, user)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def carrier(lab: Lab, name: str, interface: str = CABLED) -> str:
    return out(lab, name, f"cat /sys/class/net/{interface}/carrier")


def test_each_machine_has_a_self_of_its_own(lab: Lab, names: list[str]) -> None:
    macs = [out(lab, name, "cat /sys/class/net/en*s0f*/address").split() for name in names]
    assert len({mac for four in macs for mac in four}) == 4 * len(names)
    assert [out(lab, name, "hostname") for name in names] == names
    ids = [out(lab, name, "cat /etc/machine-id") for name in names]
    assert ids == [machine.machine_id for machine in lab.state.machines]


def test_it_has_the_devices_of_a_spark(lab: Lab, names: list[str]) -> None:
    for name in names:
        assert set(out(lab, name, "ls /sys/class/infiniband").split()) == ROCE
        assert "NVIDIA" in out(lab, name, "cat /sys/class/dmi/id/sys_vendor")
        assert "DGX_OTA_VERSION" in out(lab, name, "cat /etc/dgx-release")
        assert "stand-in" in out(lab, name, "systemctl show -p Description ollama.service")


def test_the_journal_goes_back_to_the_boot(lab: Lab, names: list[str]) -> None:
    for name in names:
        lines = out(lab, name, "sudo journalctl --dmesg --boot --quiet --no-pager | head -n 20")
        assert "Linux version" in lines


def test_a_port_without_cable_has_no_carrier(lab: Lab, names: list[str]) -> None:
    for name in names:
        assert (carrier(lab, name), carrier(lab, name, "enp1s0f0np0")) == ("1", "0")


def test_three_users_differ_in_sudo_alone(lab: Lab) -> None:
    name = lab.state.machines[0].name
    assert out(lab, name, "sudo -n id -u") == "0"
    for user in ("asksudo", "nosudo"):
        assert out(lab, name, "id -un", user) == user
        assert lab.ssh(name, "sudo -n true", user).returncode != 0
    assert out(lab, name, "echo asksudo | sudo -S -p '' id -u", "asksudo") == "0"


def test_reset_forgets_files_cables_and_a_dead_machine(lab: Lab, names: list[str]) -> None:
    first, second = names[:2]
    out(lab, first, "sudo touch /etc/left-behind")
    lab.set_cable(first, CABLED, up=False)
    assert (carrier(lab, first), carrier(lab, second)) == ("0", "0")
    doomed = next(machine.process for machine in lab.state.machines if machine.name == second)
    assert doomed is not None
    os.kill(doomed.pid, signal.SIGKILL)
    while identify(doomed.pid) == doomed:
        time.sleep(0.1)
    lab.reset()
    assert out(lab, first, "ls /etc/left-behind || true") == ""
    assert (carrier(lab, first), carrier(lab, second)) == ("1", "1")


def test_a_card_can_leave_pci_come_back_and_is_there_after_a_reset(lab: Lab, names: list[str]) -> None:
    first, second = names[:2]
    pci = f"ls /sys/bus/pci/devices; ls /sys/class/net/{CABLED}/device/driver 2>&1; ls /sys/class/infiniband"
    before = out(lab, first, pci)
    lab.set_card(first, CABLED, present=False)
    without = out(lab, first, pci + " || true")
    assert "0000:00:07.0" in before
    assert "0000:00:07.0" not in without
    assert "rocep1s0f1\n" not in without + "\n"
    assert carrier(lab, second) == "0"
    lab.set_card(first, CABLED, present=True)
    assert out(lab, first, pci) == before
    assert (carrier(lab, first), carrier(lab, second)) == ("1", "1")
    lab.set_card(first, "f1", present=False)
    lab.reset()
    assert out(lab, first, pci) == before
    assert (carrier(lab, first), carrier(lab, second)) == ("1", "1")


def test_a_machine_whose_address_moved_is_reached_at_the_other(lab: Lab, names: list[str]) -> None:
    first = names[0]
    move = "ip addr flush dev enP7s7; ip addr add 10.99.0.12/24 dev enP7s7"
    out(lab, first, f"sudo systemd-run -q sh -c 'sleep 1; {move}'")
    lab.shell(first, moved=True).wait("ip -br addr show enP7s7 | grep -v 10.99.0.11")
    lab.reset()
    assert "10.99.0.11/24" in out(lab, first, "ip -br addr show enP7s7")


def test_docker_is_installed_and_starts_when_asked(lab: Lab, names: list[str]) -> None:
    first = names[0]
    assert out(lab, first, "systemctl is-active docker.socket docker containerd || true").split() == [
        "active", "inactive", "inactive",
    ]  # fmt: skip
    assert lab.ssh(first, "sudo systemctl start docker", timeout=600).returncode == 0
    assert "-P FORWARD DROP" in out(lab, first, "sudo iptables -S FORWARD")
    lab.reset()


def test_the_clock_is_right_after_a_reset(lab: Lab, names: list[str]) -> None:
    lab.reset()
    for name in names:
        before = time.time()
        there = float(out(lab, name, "date +%s.%N"))
        assert before - 5 < there < time.time() + 5


def test_a_jumbo_frame_passes_a_cable(lab: Lab, names: list[str]) -> None:
    lab.reset()
    for number, name in enumerate(names[:2], start=1):
        out(lab, name, f"sudo ip link set {CABLED} mtu 9000")
        out(lab, name, f"sudo ip address add 192.0.2.{number}/30 dev {CABLED}")
    out(lab, names[0], "ping -c 1 -W 10 -M do -s 8972 192.0.2.2")


def test_up_again_finds_the_same_lab(lab: Lab) -> None:
    before = lab.state
    assert lab.up(before.layout, len(before.machines)) == before
