"""Units, default target, watchdog and protection from a shortage of memory, on a played systemd."""

from pathlib import Path

import pytest

from fleet.host.decide import DEFAULT_TARGET, OOM, UNITS, WATCHDOG
from fleet.host.manager import WatchdogPolicy
from fleet.host.policy import HostPolicy
from tests.operations.played_host import PlayedHost

FOUND = {
    "cups.service": {"UnitFileState": "enabled", "ActiveState": "active", "TriggeredBy": "cups.socket"},
    "cups.socket": {"UnitFileState": "enabled", "ActiveState": "active"},
    "gdm.service": {"UnitFileState": "static", "ActiveState": "active"},
    "display-manager.service": {"Id": "gdm.service"},
    "persist.service": {},
    "once.service": {"UnitFileState": "enabled", "Type": "oneshot"},
    "mine.service": {"FragmentPath": "/etc/systemd/system/mine.service"},
    "ssh.service": {"UnitFileState": "enabled", "ActiveState": "active", "MainPID": "11"},
    "tailscaled.service": {"UnitFileState": "enabled", "ActiveState": "active", "MainPID": "12"},
}


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    played = PlayedHost(tmp_path, monkeypatch)
    played.systemd(**{name: dict(unit) for name, unit in FOUND.items()})
    played.write("/shown", "12\n")
    played.write("/proc/11/oom_score_adj", "-1000\n")
    played.write("/proc/12/oom_score_adj", "0\n")
    return played


def units(**wishes: str) -> HostPolicy:
    return HostPolicy.model_validate({"units": {f"{name}.service": wish for name, wish in wishes.items()}})


@pytest.mark.parametrize(
    ("name", "wish", "told"),
    [
        ("persist", "enabled", ["unmask persist.service", "enable persist.service", "start persist.service"]),
        ("gdm", "masked", ["disable gdm.service", "mask gdm.service", "stop gdm.service"]),
        ("once", "enabled", []),
        ("persist", "disabled", []),
        ("nowhere", "masked", []),
        ("nowhere", "disabled", []),
    ],
)
def test_a_unit_is_made_so_at_boot_and_now(host: PlayedHost, name: str, wish: str, told: list[str]) -> None:
    host.made_so(units(**{name: wish}), UNITS)
    assert host.told == told


def test_a_service_and_its_socket_are_turned_off_together(host: PlayedHost) -> None:
    policy = HostPolicy(units={"cups.service": "disabled", "cups.socket": "disabled"})
    assert host.made_so(policy, UNITS) == ["set_unit_file", "set_unit_active"] * 2
    back = HostPolicy(units={"cups.service": "masked"})
    assert host.made_so(back, UNITS) == ["set_unit_file"]
    assert host.made_so(HostPolicy(units={"cups.service": "enabled"}), UNITS) == ["set_unit_file", "set_unit_active"]


def test_a_mask_that_a_boot_takes_away_is_none(host: PlayedHost) -> None:
    host.systemd(**{"gdm.service": {"UnitFileState": "masked-runtime", "LoadState": "masked"}})
    assert host.made_so(units(gdm="masked"), UNITS) == ["set_unit_file"]


@pytest.mark.parametrize(
    ("name", "wish", "said"),
    [
        ("cups", "disabled", "expected nothing that starts it again, found cups.socket [unit_triggered]"),
        ("gdm", "disabled", "expected a unit that can be disabled, found static [unit_static]"),
        ("display-manager", "masked", "expected a unit by its own name, found an alias of gdm.service [unit_alias]"),
        ("nowhere", "enabled", "expected a unit that can be started, found none [unit_missing]"),
        ("mine", "masked", "found /etc/systemd/system/mine.service [unit_mask_blocked]"),
    ],
)
def test_what_cannot_be_made_so_is_refused(host: PlayedHost, name: str, wish: str, said: str) -> None:
    (found,) = host.refusals(units(**{name: wish}), UNITS)
    assert found.startswith(f"a {name}.service: ")
    assert found.endswith(said)
    assert host.told == []


def test_the_next_boot_goes_to_the_target_and_nothing_is_started_for_it(host: PlayedHost) -> None:
    policy = HostPolicy(default_target="multi-user.target")
    assert host.made_so(policy, DEFAULT_TARGET) == ["set_default_target"]
    assert host.told == ["set-default multi-user.target"]


ARMED = HostPolicy(watchdog=WatchdogPolicy(seconds=30))


def test_a_watchdog_is_armed_at_boot_and_now(host: PlayedHost) -> None:
    host.write("/sys/class/watchdog/watchdog0/identity", "SBSA Generic Watchdog\n")
    host.write("/etc/systemd/system.conf", "[Manager]\n#RuntimeWatchdogSec=0\nRuntimeWatchdogSec=0\n")
    assert host.made_so(ARMED, WATCHDOG) == ["write_host_file", "feed_watchdog"]
    assert host.told == ["set-property RuntimeWatchdogUSec 30000000"]
    assert host.made_so(HostPolicy(), WATCHDOG) == ["remove_host_file"]


def test_a_later_drop_in_is_refused_by_name_and_line(host: PlayedHost) -> None:
    host.write("/sys/class/watchdog/watchdog0/identity", "x\n")
    host.write("/etc/systemd/system.conf.d/99-mine.conf", "[Manager]\nRuntimeWatchdogSec=off\n")
    (said,) = host.refusals(ARMED, WATCHDOG)
    assert said == (
        "a RuntimeWatchdogSec at boot: expected 30s, "
        "found off by /etc/systemd/system.conf.d/99-mine.conf line 2 [conf_overridden]"
    )


def test_a_board_without_a_watchdog_is_refused(host: PlayedHost) -> None:
    (said,) = host.refusals(ARMED, WATCHDOG)
    assert said.endswith("expected a device under /sys/class/watchdog, found none [watchdog_missing]")


REACHABLE = HostPolicy(oom_protected=("ssh.service", "tailscaled.service", "absent.service"))


def test_what_a_host_is_reached_by_is_protected_without_a_restart(host: PlayedHost) -> None:
    kinds = ["write_host_file", "write_host_file", "reload_systemd", "set_oom_score"]
    assert host.made_so(REACHABLE, OOM) == kinds
    assert host.told == ["daemon-reload"]
    assert host.read("/proc/12/oom_score_adj") == "-900"
    ssh = host.read("/etc/systemd/system/ssh.service.d/90-sparks-host.conf")
    assert "OOMPolicy=continue" in ssh
    assert "OOMScoreAdjust" not in ssh, "every shell would inherit it"
    assert not (host.root / "etc/systemd/system/absent.service.d").exists()


def test_a_process_that_was_restarted_by_hand_has_what_systemd_gives_it(host: PlayedHost) -> None:
    host.made_so(REACHABLE, OOM)
    host.write("/proc/12/oom_score_adj", "0\n")
    assert host.made_so(REACHABLE, OOM) == ["set_oom_score"]


def test_a_drop_in_that_undoes_it_is_refused(host: PlayedHost) -> None:
    host.systemd(**{"ssh.service": {"DropInPaths": "/etc/systemd/system/ssh.service.d/zz.conf"}})
    host.write("/etc/systemd/system/ssh.service.d/zz.conf", "[Service]\nOOMPolicy=kill\n")
    (said,) = host.refusals(REACHABLE, OOM)
    assert "a ssh.service OOMPolicy at boot: expected continue, found kill by " in said
    assert "/zz.conf line 2" in said
