"""What a policy may say: every wrong value names file, key, what was expected and what was found."""

from typing import Any

import pytest

from fleet.plain import shown
from fleet.roster import Roster
from fleet.roster_error import RosterError


def read(policy: Any, name: str = "plain", spark_has: str = "plain") -> Roster:
    values = {"sparks": {"a": {"enrolled": True, "host": spark_has}}, "hosts": {name: policy}}
    return Roster.read(values, "group_data/x.py")


def test_sparks_share_a_policy_by_name() -> None:
    policy = read({"sysctls": {"vm.swappiness": 1}}).desired_for("a").host
    assert policy is not None
    assert policy.settings == {"vm/swappiness": "1"}


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"sysctl": {}}, "roster.hosts.plain.sysctl: expected no such key"),
        ({"sysctls": {"vm.*": 1}}, "expected a kernel setting as vm.watermark_boost_factor, found 'vm.*'"),
        ({"sysctls": {"swappiness": 1}}, "expected a kernel setting as vm.watermark_boost_factor"),
        *(
            (
                {"sysctls": {"vm.swappiness": odd}},
                "vm.swappiness: expected a whole number, or text in one line of ASCII, found " + shown(odd),
            )
            for odd in (True, 1.5, [1], "1\n", "1" * 257)
        ),
        (
            {"modules": {"nvidia": {"int": 1.5}}},
            "roster.hosts.plain.modules.nvidia.int: expected a whole number, or text of ASCII without spaces and "
            "quotes, found 1.5",
        ),
        *(
            ({"sysctls": {"vm.swappiness": f"1{odd}"}}, "roster.hosts.plain.sysctls.vm.swappiness")
            for odd in ("\0", "\n", "\x1b", "é", "\u2028")
        ),
        *(
            ({"modules": {"nvidia": {"NVreg_x": f"1{odd}"}}}, "roster.hosts.plain.modules.nvidia.NVreg_x")
            for odd in ("\0", "\n", " ", '"', "#", "\\", "é")
        ),
        ({"units": {"ssh.service": "masked"}}, "expected it enabled or left out, found masked: we stand on it"),
        ({"units": {"NetworkManager.service": "disabled"}}, "[unit_carries_us]"),
        ({"units": {"sparks-transit.service": "enabled"}}, "[unit_ours]"),
        ({"units": {"cups": "masked"}}, "expected a unit with its type, as cups.service, found 'cups'"),
        ({"units": {"chrony.service": "enabled"}, "time_sync": "chrony"}, "[time_twice]"),
        ({"oom_protected": ["ssh.socket"]}, "expected a service, found ssh.socket [not_a_service]"),
        ({"mounts": {"/etc/models": {"source": "nas:/x"}}}, "[mount_over_system]"),
        ({"mounts": {"/mnt/x": {"source": "/dev/sda1"}}}, "expected a server and an export"),
        ({"mounts": {"/mnt/x": {"source": "nas:/x", "options": ["ro", "ro"]}}}, "[option_twice]"),
        ({"mounts": {"/mnt/x": {"source": "nas:/x", "options": ["noauto"]}}}, "[not_at_boot]"),
        ({"memory_guard": {"startup_gib": 5, "steady_gib": 3}}, "found neither [guarded_container]"),
        (
            {"memory_guard": {"startup_gib": 2, "steady_gib": 3, "container": "x"}},
            "expected a startup level not below the steady one of 3 GiB, found 2 [guard_levels]",
        ),
        ({"tmpfiles": [{"path": "/sys/x"}]}, "expected a value for it, found none [tmpfile_path]"),
        (
            {"swap": {"size_gib": 8, "path": "/swap.img"}},
            "swap.path: expected a path whose name is sparks-swap.img",
        ),
        ({"mounts": {"models": {"source": "nas:/x"}}}, "expected a place as /mnt/models, found 'models'"),
        (
            {"mounts": {"/mnt/x": {"source": "nas:/x", "options": ["a b"]}}},
            "expected an option of mount, as nconnect=8",
        ),
        ({"tmpfiles": [{"path": "/run/x y"}]}, "path: expected an absolute path without spaces"),
        ({"tmpfiles": [{"path": "/run/x", "mode": "rwx"}]}, "mode: expected a mode as 0755"),
        ({"linger": ["A B"]}, "expected a user's name, found 'A B'"),
        (
            {"memory_guard": {"startup_gib": 5, "steady_gib": 3, "label": "x"}},
            "expected a label as sparks.deployment=tp4",
        ),
        ({"default_target": "x"}, "expected a target as multi-user.target"),
        ({"watchdog": {"seconds": 1}}, "roster.hosts.plain.watchdog.seconds"),
        ({"governor": "fast"}, "roster.hosts.plain.governor"),
        ({"held": ["nvidia-x", "nvidia-x"]}, "held: expected each once, found nvidia-x 2 times [listed_twice]"),
        ({"time_servers": ["ntp1.lab"]}, "time_servers: expected time_sync beside it, found none [time_servers_alone]"),
        (
            {"time_sync": "chrony", "time_servers": ["a b"]},
            "a server's name or address in lower case, as ntp1.lab",
        ),
        ({"time_sync": "chrony", "time_servers": ["a", "a"]}, "time_servers: expected each once, found a 2 times"),
        ({"linger": ["ada", "ada"]}, "linger: expected each once, found ada 2 times [listed_twice]"),
        ({"oom_protected": ["ssh.service"] * 3}, "oom_protected: expected each once, found ssh.service 3 times"),
        ({"tmpfiles": [{"path": "/run/x"}, {"path": "/run/x", "mode": "0700"}]}, "tmpfiles: expected each once"),
        *(({"remove_ipc": odd}, "plain.remove_ipc: expected a valid boolean, found") for odd in (0, 1, "no", "False")),
        ({"remove_ipc": None}, "plain.remove_ipc: expected a value, or the key left out, found None"),
        ({"swap": {"size_gib": None}}, "plain.swap.size_gib: expected a value, or the key left out, found None"),
        (
            {"sysctls": {"vm.swappiness": 1, "vm/swappiness": 1}},
            "expected one value for a setting, found vm.swappiness and vm/swappiness [sysctl_twice]",
        ),
    ],
)
def test_a_wrong_value_names_its_place(policy: Any, said: str) -> None:
    with pytest.raises(RosterError) as error:
        read(policy)
    assert all(line.startswith("group_data/x.py: roster.hosts") for line in error.value.lines)
    assert said in str(error.value)


@pytest.mark.parametrize("removes", [True, False])
def test_both_truths_are_an_answer(removes: bool) -> None:
    policy = read({"remove_ipc": removes}).desired_for("a").host
    assert policy is not None
    assert policy.remove_ipc is removes


def test_a_policy_for_another_page_size_than_the_kernels_is_refused() -> None:
    release = "7.0.0-1019-nvidia-64k"
    kernel = {"release": release, "packages": {f"linux-image-{release}": "1"}}
    values = {
        "sparks": {"a": {"enrolled": True, "host": "plain", "kernel": "k"}},
        "hosts": {"plain": {"page_size_kib": 4}},
        "kernels": {"k": kernel},
    }
    with pytest.raises(RosterError, match=r"for pages of 64 KiB, as its kernel .*, found one for 4 KiB"):
        Roster.read(values, "x")


def test_a_policy_that_nobody_has_written_is_named() -> None:
    with pytest.raises(RosterError, match=r"sparks\.a\.host: expected one of hosts \(plain\), found other"):
        read({}, spark_has="other")
