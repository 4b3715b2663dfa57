"""The servers for the time on a played host: durable, asked now, nothing left to do, and taken away again."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.host.decide import TIME_SERVERS, UNITS
from fleet.host.policy import HostPolicy
from fleet.host.time_servers import CHRONY_SOURCES
from fleet.host.time_servers_step import TIMESYNCD_PATH
from tests.operations.played_host import PlayedHost

ACTIVE = {"ActiveState": "active"}
MADE = ["write_host_file", "use_time_servers"]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    played = PlayedHost(tmp_path, monkeypatch)
    played.systemd(**{"systemd-timesyncd.service": ACTIVE, "chrony.service": ACTIVE})
    played.write("/etc/chrony/chrony.conf", "pool pool.ntp.org iburst\nsourcedir /etc/chrony/sources.d\n")
    return played


def policy(service: Any, *servers: str) -> HostPolicy:
    return HostPolicy(time_sync=service, time_servers=servers)


def test_timesyncd_asks_these_alone(host: PlayedHost) -> None:
    assert host.made_so(policy("timesyncd", "ntp1.lab", "192.0.2.7"), TIME_SERVERS) == MADE
    assert host.told == ["restart systemd-timesyncd.service"]
    assert host.read(TIMESYNCD_PATH).endswith("[Time]\nNTP=\nNTP=ntp1.lab 192.0.2.7\n")
    assert host.made_so(policy("timesyncd", "192.0.2.7"), TIME_SERVERS) == MADE
    assert host.made_so(policy("timesyncd", "192.0.2.7"), TIME_SERVERS) == []


def test_chrony_asks_these_beside_its_own_and_those_that_go_no_more(host: PlayedHost) -> None:
    assert host.made_so(policy("chrony", "ntp1.lab", "ntp2.lab"), TIME_SERVERS) == MADE
    assert host.told == ["chronyc reload sources"]
    assert host.read(CHRONY_SOURCES).endswith("\nserver ntp1.lab iburst\nserver ntp2.lab iburst\n")
    assert host.made_so(policy("chrony", "ntp2.lab"), TIME_SERVERS) == MADE
    assert "pool.ntp.org" in (host.root / "systemd.json").read_text()


@pytest.mark.parametrize(("service", "path"), [("timesyncd", TIMESYNCD_PATH), ("chrony", CHRONY_SOURCES)])
def test_a_policy_without_servers_takes_the_file_away(host: PlayedHost, service: str, path: str) -> None:
    host.made_so(policy(service, "ntp1.lab"), TIME_SERVERS)
    assert host.made_so(policy(service), TIME_SERVERS) == ["remove_host_file"]
    assert not (host.root / path.lstrip("/")).exists()


@pytest.mark.parametrize("service", ["timesyncd", "chrony"])
def test_one_that_asks_others_than_its_file_says_is_told_again(host: PlayedHost, service: str) -> None:
    host.made_so(policy(service, "ntp1.lab"), TIME_SERVERS)
    state = host.root / "systemd.json"
    state.write_text(state.read_text().replace("ntp1.lab", "ntp9.lab"))
    assert host.made_so(policy(service, "ntp1.lab"), TIME_SERVERS) == ["use_time_servers"]


def test_who_has_the_last_word_is_named(host: PlayedHost) -> None:
    host.write("/etc/systemd/timesyncd.conf.d/99-mine.conf", "[Time]\nNTP=ntp9.lab\n")
    (said,) = host.refusals(policy("timesyncd", "ntp1.lab"), TIME_SERVERS)
    path = "/etc/systemd/timesyncd.conf.d/99-mine.conf"
    assert said == f"a NTP at boot: expected ntp1.lab, found ntp9.lab by {path} line 2 [conf_overridden]"


def test_a_chrony_that_does_not_read_our_file_is_refused(host: PlayedHost) -> None:
    host.write("/etc/chrony/chrony.conf", "pool pool.ntp.org iburst\n# sourcedir /etc/chrony/sources.d\n")
    (said,) = host.refusals(policy("chrony", "ntp1.lab"), TIME_SERVERS)
    assert said.endswith("expected sourcedir /etc/chrony/sources.d in /etc/chrony/chrony.conf, found no such line "
                         "[chrony_without_sources]")  # fmt: skip
    host.write("/etc/chrony/conf.d/more.conf", "sourcedir /etc/chrony/sources.d\n")
    assert host.made_so(policy("chrony", "ntp1.lab"), TIME_SERVERS) == MADE


@pytest.mark.parametrize("places", ["/run/chrony-dhcp /etc/chrony/sources.d", "/etc/chrony/sources.d/"])
def test_chrony_may_read_our_file_among_others(places: str, host: PlayedHost) -> None:
    host.write("/etc/chrony/chrony.conf", f"sourcedir {places}\n")
    assert host.made_so(policy("chrony", "ntp1.lab"), TIME_SERVERS) == MADE


def test_chrony_asks_a_name_that_has_no_address_yet(host: PlayedHost) -> None:
    """chronyc leaves it out unless it is asked for all (`sources -a`); it is looked up after the reload has ended."""
    state = json.loads((host.root / "systemd.json").read_text())
    (host.root / "systemd.json").write_text(json.dumps(state | {"unresolved": ["ntp1.lab"]}))
    assert host.made_so(policy("chrony", "ntp1.lab"), TIME_SERVERS) == MADE


def test_the_mask_that_a_removed_package_has_left_is_no_unit_to_disable(host: PlayedHost) -> None:
    """Debian and Ubuntu: chrony's package displaces timesyncd's, whose unit stays masked."""
    masked = {"UnitFileState": "masked", "LoadState": "masked", "removed": "yes"}
    host.systemd(**{"systemd-timesyncd.service": masked, "chrony.service": ACTIVE | {"UnitFileState": "enabled"}})
    said = "Failed to disable unit: Unit file systemd-timesyncd.service does not exist."
    gone = f'case " $* " in *" cat "*) exit 1;; *" disable "*) echo "{said}" >&2; exit 1;; esac'
    host.program("systemctl", f'{gone}\necho "systemctl $*" >> {host.root}/due')
    assert host.made_so(policy("chrony"), UNITS) == ["set_unit_file"]
    assert host.told == ["unmask systemd-timesyncd.service"]


def test_a_service_that_does_not_run_is_not_started_by_a_look(host: PlayedHost) -> None:
    host.systemd()
    kinds = [each.kind for each in host.outcomes(policy("timesyncd", "ntp1.lab"), TIME_SERVERS)]  # type: ignore[union-attr]
    assert (kinds, host.told) == (MADE, [])
