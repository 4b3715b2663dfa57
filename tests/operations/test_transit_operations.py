"""The operation in a pyinfra run on this machine: real files below a directory, a played systemd and iptables."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet.desired import DesiredSpark
from fleet.hardware import INTERFACES
from fleet.spark import Spark
from fleet.transit.desired import FILE_MODE, Transit
from tests import forked

RING = Transit(interfaces=INTERFACES, subnets=("10.7.0.0/24", "10.7.1.0/24"))
DEPLOY = """
from tests.forked import everywhere
import facts.look, fleet.lock, fleet.transit.desired
everywhere(fleet.lock.PLACE, {root!r} + "/run-sparks")
everywhere(facts.look.as_root, lambda command, otherwise="": command)
everywhere(fleet.transit.desired.SYSCTL_PATH, {root!r} + "/etc/sysctl.d/90-sparks-transit.conf")
everywhere(fleet.transit.desired.UNIT_PATH, {root!r} + "/units/sparks-transit.service")
everywhere(fleet.transit.desired.WANTS_PATH, {root!r} + "/units/docker.service.wants/sparks-transit.service")
import facts.transit, operations.transit
for look in (facts.transit.Transit, facts.transit.Firewall):
    look.command = lambda self, looked=look.command: looked(self, root={root!r})
operations.transit.PROC_SYS = {root!r} + "/proc/sys"
from fleet.desired import DesiredSpark

operations.transit.forwarding(name="transit", desired=DesiredSpark.from_canonical({desired!r}))
"""
DOCKER = {"FORWARD": ["-j DOCKER-USER"], "DOCKER-USER": ["-j RETURN"]}
"""What Docker makes; the policy of FORWARD is DROP."""


class Played:
    """One played host, and the runs of a deploy on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("bin", "units", "etc/sysctl.d"):
            (root / folder).mkdir(parents=True)
        self.table = DOCKER
        script = Path(__file__).with_name("played_transit.py")
        for name in ("systemctl", "iptables", "iptables-restore"):
            program = root / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} -S {script} {root} {name} "$@"\n')
            program.chmod(0o755)
        (root / "bin" / "nft").write_text("#!/bin/sh\necho '{\"nftables\": []}'\n")
        (root / "bin" / "nft").chmod(0o755)
        (root / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))
        self.put("ip_forward", "0")
        self.put("conf/default/rp_filter", "2")
        for interface in INTERFACES:
            self.put(f"conf/{interface}/forwarding", "0")
            self.put(f"conf/{interface}/rp_filter", "1")

    def put(self, key: str, value: str) -> None:
        path = self.root / "proc/sys/net/ipv4" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")

    def values(self, name: str) -> set[str]:
        return {(self.root / f"proc/sys/net/ipv4/conf/{each}/{name}").read_text().strip() for each in INTERFACES}

    @property
    def table(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = json.loads((self.root / "table.json").read_text())
        return found

    @table.setter
    def table(self, chains: dict[str, list[str]]) -> None:
        (self.root / "table.json").write_text(json.dumps(chains))

    @property
    def files(self) -> set[str]:
        """Every file of ours, and whatever lies beside them."""
        found = [*(self.root / "etc").rglob("*"), *(self.root / "units").rglob("*")]
        return {str(path.relative_to(self.root)) for path in found if not path.is_dir()}

    @property
    def verbs(self) -> list[str]:
        """What systemctl was told since the last time, looks left out."""
        path = self.root / "verbs"
        found = path.read_text().split() if path.exists() else []
        path.write_text("")
        return found

    def run(self, transit: Transit | None = RING, *arguments: str) -> subprocess.CompletedProcess[str]:
        wish = DesiredSpark(name="a", spark=Spark(enrolled=True), rail_ends=(), ollama=None, transit=transit)
        deploy = self.root / "deploy.py"
        deploy.write_text(DEPLOY.format(root=str(self.root), desired=wish.canonical))
        environment = {"PATH": f"{self.root / 'bin'}:{os.environ['PATH']}", "COLUMNS": "200"}
        command = ("@local", deploy, *(arguments or ("-y",)))
        return forked.ran(forked.pyinfra_command, *command, environment=environment)

    def converge(self, transit: Transit | None = RING) -> str:
        done = self.run(transit)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def refused(self) -> str:
        done = self.run()
        assert done.returncode == 1, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stderr


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path)


OURS = {
    "etc/sysctl.d/90-sparks-transit.conf",
    "units/sparks-transit.service",
    "units/docker.service.wants/sparks-transit.service",
}


def test_a_bare_host_converges_and_then_nothing_changes(played: Played) -> None:
    assert played.run(RING, "--dry").returncode == 0
    assert (played.files, played.verbs, played.table) == (set(), [], DOCKER)
    played.converge()
    assert played.verbs == ["daemon-reload", "enable", "start"]
    assert played.files == OURS
    sysctl = played.root / "etc/sysctl.d/90-sparks-transit.conf"
    assert (sysctl.read_text(), sysctl.stat().st_mode & 0o777) == (RING.sysctl_text, FILE_MODE)
    assert (played.root / "units/sparks-transit.service").read_text() == RING.unit_text
    assert (played.values("forwarding"), played.values("rp_filter")) == ({"1"}, {"2"})
    assert played.table["DOCKER-USER"] == ["-j SPARKS-TRANSIT", "-j RETURN"]
    assert len(played.table["SPARKS-TRANSIT"]) == len(INTERFACES)
    before = played.table
    assert "No changes" in played.converge()
    assert (played.verbs, played.table) == ([], before)


def test_a_run_killed_after_the_files_is_finished_by_the_next(played: Played) -> None:
    played.converge()
    assert played.verbs
    played.table = DOCKER
    played.put(f"conf/{INTERFACES[1]}/forwarding", "0")
    played.converge()
    assert played.verbs == ["start"]
    assert played.values("forwarding") == {"1"}
    assert "SPARKS-TRANSIT" in played.table


def test_a_drop_before_our_rules_is_passed_and_left_to_its_owner(played: Played) -> None:
    played.converge()
    drop = "-i enp1s0f0np0 -j DROP"
    played.table = played.table | {"DOCKER-USER": [drop, "-j SPARKS-TRANSIT", "-j SPARKS-TRANSIT", "-j RETURN"]}
    played.converge()
    assert played.table["DOCKER-USER"] == ["-j SPARKS-TRANSIT", drop, "-j RETURN"]


def test_transit_that_is_not_asked_for_any_more_is_taken_away(played: Played) -> None:
    played.converge()
    assert played.verbs
    played.converge(None)
    assert played.verbs == ["disable", "daemon-reload"]
    assert (played.files, played.table) == (set(), DOCKER)
    assert (played.values("forwarding"), played.values("rp_filter")) == ({"0"}, {"2"})
    assert "No changes" in played.converge(None)
    assert played.verbs == []


def test_a_later_sysctl_file_is_refused_before_anything_is_written(played: Played) -> None:
    late = played.root / "etc/sysctl.d/99-late.conf"
    late.write_text(f"net.ipv4.conf.{INTERFACES[0]}.forwarding = 0\n")
    said = played.refused()
    assert (
        f"net.ipv4.conf.{INTERFACES[0]}.forwarding at boot: expected 1, found 0 by /etc/sysctl.d/99-late.conf" in said
    )
    assert (played.files, played.verbs) == ({"etc/sysctl.d/99-late.conf"}, [])


def test_a_firewall_that_drops_everything_is_refused(played: Played) -> None:
    played.table = {"FORWARD": []}
    assert "expected a firewall that passes packets from rail to rail, found iptables: policy DROP" in played.refused()
    assert (played.files, played.verbs) == (set(), [])


def test_an_iptables_that_fails_is_not_taken_for_an_empty_one(played: Played) -> None:
    (played.root / "broken").touch()
    assert "firewall: expected an observation, found iptables: failed" in played.refused()
    assert played.files == set()


def test_a_host_that_never_had_transit_is_left_alone(played: Played) -> None:
    (played.root / "broken").touch()
    assert "No changes" in played.converge(None)
    assert (played.files, played.verbs) == (set(), [])
