"""The looks at transit: run by this machine's Python, on a directory of files and programs that are played."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts import transit as facts
from facts.look import Look
from fleet.transit.desired import FILE_MODE, SYSCTL_PATH, UNIT_PATH, WANTS_PATH, Transit
from fleet.transit.firewall import Filter
from fleet.transit.observed import Firewall, ForeignChain, OwnFile, OwnUnit, TransitState
from tests.fleet.transit.host import DOCKER

RING = Transit(interfaces=("enp1s0f0np0", "enp1s0f1np1"), subnets=("10.7.0.0/24", "10.7.2.0/24"))
UNITS = {"docker.service": "active", "sparks-transit.service": "inactive"}

DOCKER_26 = """\
-P INPUT ACCEPT
-P FORWARD DROP
-P OUTPUT ACCEPT
-N DOCKER
-N DOCKER-ISOLATION-STAGE-1
-N DOCKER-ISOLATION-STAGE-2
-N DOCKER-USER
-A INPUT -s 192.0.2.7/32 -j DROP
-A FORWARD -j DOCKER-USER
-A FORWARD -j DOCKER-ISOLATION-STAGE-1
-A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A FORWARD -o docker0 -j DOCKER
-A FORWARD -i docker0 ! -o docker0 -j ACCEPT
-A FORWARD -i docker0 -o docker0 -j ACCEPT
-A DOCKER-ISOLATION-STAGE-1 -i docker0 ! -o docker0 -j DOCKER-ISOLATION-STAGE-2
-A DOCKER-ISOLATION-STAGE-1 -j RETURN
-A DOCKER-ISOLATION-STAGE-2 -o docker0 -j DROP
-A DOCKER-ISOLATION-STAGE-2 -j RETURN
-A DOCKER-USER -j RETURN
"""
"""Captured on a virtual Spark (Docker 26.1.5, 2026-11-29), but for the rule in INPUT."""


class PlayedHost:
    """A root directory for settings and sysctl.d, and programs that print what a test says."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.bin = root, root / "bin"
        self.bin.mkdir()
        python = self.bin / "python3"
        python.symlink_to(os.path.realpath(sys.executable))
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setattr(facts, "as_root", lambda command: command)
        for name in ("SYSCTL_PATH", "UNIT_PATH", "WANTS_PATH"):
            monkeypatch.setattr(facts, name, f"{root}{getattr(facts, name)}")
        for key, value in {
            "ip_forward": "1",
            "conf/default/rp_filter": "2",
            "conf/enp1s0f0np0/forwarding": "1",
        }.items():
            self.write(f"/proc/sys/net/ipv4/{key}", f"{value}\n")
        self.shows({})

    def place(self, path: str) -> Path:
        """Where this path of the host is on this machine."""
        return self.root / path.lstrip("/")

    def write(self, path: str, text: str) -> Path:
        file = self.place(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def says(self, program: str, text: str, status: int = 0) -> None:
        """A program that prints this whatever it is asked; `iptables -V` is part of it."""
        said = self.write(f"/said/{program}", text)
        script = self.bin / program
        script.write_text(f'#!/bin/sh\nwhile read -r line; do echo "$line"; done < {said}\nexit {status}\n')
        script.chmod(0o755)

    def shows(self, units: dict[str, dict[str, str]]) -> None:
        """What systemctl shows of each unit, in the order in which they are asked for."""
        script = 'case "$*" in\n'
        plain = {"LoadState": "not-found", "ActiveState": "inactive", "NeedDaemonReload": "no", "WantedBy": ""}
        for names in (("docker.service", "firewalld.service"), ("sparks-transit.service", "docker.service")):
            shown = [plain | units.get(name, {}) for name in names]
            text = "\n\n".join("\n".join(f"{key}={value}" for key, value in each.items()) for each in shown)
            script += f'"show {" ".join(names)} "*) echo "{text}" ;;\n'
        (self.bin / "systemctl").write_text(f"#!/bin/sh\n{script}*) exit 64 ;;\nesac\n")
        (self.bin / "systemctl").chmod(0o755)

    def look(self, fact: Look[Any], **arguments: Any) -> Any:
        command: Any = fact.command
        done = subprocess.run(
            ["/bin/sh", "-c", command(**arguments)], capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 0, done.stderr
        return fact.process(done.stdout.splitlines())

    def transit(self) -> TransitState:
        found: TransitState = self.look(facts.Transit(), root=str(self.root))
        return found

    def firewall(self) -> Firewall:
        found: Firewall = self.look(facts.Firewall(), root=str(self.root))
        return found


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    return PlayedHost(tmp_path, monkeypatch)


def test_a_host_without_anything_of_ours_is_not_asked_for_its_units(host: PlayedHost) -> None:
    (host.bin / "systemctl").write_text("#!/bin/sh\nexit 1\n")
    assert host.transit() == TransitState(
        now={
            "net/ipv4/ip_forward": "1",
            "net/ipv4/conf/default/rp_filter": "2",
            "net/ipv4/conf/enp1s0f0np0/forwarding": "1",
        }
    )


def test_our_files_are_seen_as_they_are(host: PlayedHost) -> None:
    host.write(SYSCTL_PATH, RING.sysctl_text).chmod(FILE_MODE)
    unit = host.write(UNIT_PATH, RING.unit_text)
    unit.chmod(0o600)
    link = host.place(WANTS_PATH)
    link.parent.mkdir(parents=True)
    link.symlink_to(unit)
    host.shows({"sparks-transit.service": {"LoadState": "loaded", "WantedBy": "docker.service"},
                "docker.service": {"LoadState": "loaded"}})  # fmt: skip
    found = host.transit()
    assert found.sysctl is not None
    assert (found.sysctl.content_digest, found.sysctl.mode) == (RING.sysctl_digest, FILE_MODE)
    assert found.unit.file is not None
    assert (found.unit.file.content_digest, found.unit.file.mode) == (RING.unit_digest, 0o600)
    assert (found.unit.is_linked, found.unit.need_daemon_reload) == (True, False)
    assert [(file.path, file.settings) for file in found.sysctl_files] == [
        ("/etc/sysctl.d/90-sparks-transit.conf", RING.settings)
    ]


@pytest.mark.parametrize(
    "shown", [{"NeedDaemonReload": "yes", "WantedBy": "docker.service"}, {"WantedBy": "multi-user.target"}]
)
def test_a_unit_that_systemd_does_not_have_as_it_lies_there_is_stale(host: PlayedHost, shown: dict[str, str]) -> None:
    link = host.place(WANTS_PATH)
    link.parent.mkdir(parents=True)
    link.symlink_to("nowhere")
    host.shows({"sparks-transit.service": shown, "docker.service": {"LoadState": "loaded"}})
    assert host.transit().unit == OwnUnit(file=None, is_linked=True, need_daemon_reload=True)


def test_a_masked_unit_is_no_file_of_ours(host: PlayedHost) -> None:
    path = host.place(UNIT_PATH)
    path.parent.mkdir(parents=True)
    path.symlink_to("/dev/null")
    found = host.transit().unit.file
    assert isinstance(found, OwnFile)
    assert found.content_digest is None


def test_sysctl_files_come_in_systemds_order_and_nothing_else_of_them_leaves(host: PlayedHost) -> None:
    forward = "net.ipv4.ip_forward = {}\n"
    host.write("/usr/lib/sysctl.d/50-default.conf", "net.ipv4.conf.*.rp_filter = 2\n-net.ipv4.conf.all.rp_filter\n")
    host.write("/usr/lib/sysctl.d/60-a.conf", forward.format(0))
    host.write("/run/sysctl.d/60-a.conf", forward.format(1))
    host.write("/etc/sysctl.conf", f"kernel.secret=s3cr3t\n#{forward.format(0)}net/ipv4/ip_forward=1\n")
    (host.root / "etc/sysctl.d").mkdir()
    (host.root / "etc/sysctl.d/99-sysctl.conf").symlink_to("../sysctl.conf")
    host.write("/usr/lib/sysctl.d/70-masked.conf", forward.format(0))
    (host.root / "etc/sysctl.d/70-masked.conf").symlink_to("/dev/null")
    assert [(file.path, file.lines) for file in host.transit().sysctl_files] == [
        ("/usr/lib/sysctl.d/50-default.conf", ("net.ipv4.conf.*.rp_filter = 2",)),
        ("/run/sysctl.d/60-a.conf", ("net.ipv4.ip_forward = 1",)),
        ("/etc/sysctl.d/99-sysctl.conf", ("net/ipv4/ip_forward=1",)),
    ]


def test_what_docker_makes_is_read_from_forward_on(host: PlayedHost) -> None:
    host.says("iptables", f"# nf_tables\n{DOCKER_26}")
    host.shows({"docker.service": {"LoadState": "loaded", "ActiveState": "active"}})
    found = host.firewall()
    assert found.docker == "active"
    (table,) = found.filters
    assert table.program == "iptables"
    assert {chain.name: chain for chain in table.chains} == {chain.name: chain for chain in DOCKER.chains}


def test_rules_of_both_variants_at_once_are_both_seen(host: PlayedHost) -> None:
    host.says("iptables", f"# nf_tables\n{DOCKER_26}")
    host.says("iptables-legacy", "-P FORWARD DROP\n")
    host.write("/proc/net/ip_tables_names", "nat\nfilter\n")
    assert [(table.program, len(table.chains)) for table in host.firewall().filters] == [
        ("iptables", len(DOCKER.chains)), ("iptables-legacy", 1),
    ]  # fmt: skip


def test_the_old_variant_is_not_asked_where_the_kernel_has_no_table_of_it(host: PlayedHost) -> None:
    """Asking it would load one."""
    host.says("iptables", "# legacy\n-P FORWARD DROP\n")
    assert host.firewall().filters == ()
    host.write("/proc/net/ip_tables_names", "filter\n")
    assert [table.program for table in host.firewall().filters] == ["iptables"]


def test_our_own_rules_are_read_back_as_they_were_written(host: PlayedHost) -> None:
    ours = RING.accepted_by(DOCKER)
    host.says("iptables", f"# nf_tables\n{as_printed(ours)}")
    (table,) = host.firewall().filters
    assert RING.accepted_by(table) == table


def as_printed(table: Filter) -> str:
    """As `iptables -S` prints it; a narrowed rule gets some condition."""
    heads = [f"-P {c.name} {c.policy}" if c.policy else f"-N {c.name}" for c in table.chains]
    rules = [
        f"-A {chain.name} {rule.text.replace('-j', '-p tcp -j') if rule.narrowed else rule.text}"
        for chain in table.chains
        for rule in chain.rules
    ]
    return "\n".join([*heads, *rules]) + "\n"


def test_comments_and_strings_of_rules_stay_on_the_host(host: PlayedHost) -> None:
    rules = """\
# nf_tables
-P FORWARD ACCEPT
-A FORWARD -m comment --comment "s3cr3t -j ACCEPT" -j DROP
-A FORWARD ! -s 10.0.0.0/8 ! -i eth+ -m string --string "s3cr3t" --algo bm --to 65535 -j REJECT --reject-with icmp-port-unreachable
-A FORWARD -p udp -m set --match-set s3cr3t src -g LATER
"""  # noqa: E501
    host.says("iptables", rules)
    found = host.firewall()
    assert "s3cr3t" not in found.canonical
    assert [each.model_dump(exclude_none=True) for each in found.filters[0].chains[0].rules] == [
        {"target": "DROP", "narrowed": False},
        {"target": "REJECT", "into": "!eth+", "source": "!10.0.0.0/8", "narrowed": True},
        {"target": "LATER", "narrowed": True},
    ]


def test_a_host_without_any_firewall_program_has_none(host: PlayedHost) -> None:
    assert host.firewall() == Firewall()


def nftables(*rules: object, policy: str = "drop") -> str:
    chain = {"family": "inet", "table": "filter", "name": "forward", "hook": "forward", "policy": policy}
    others = [{"family": "ip", "table": "filter", "name": "INPUT", "hook": "input", "policy": "drop"}]
    listed = [{"metainfo": {}}, *({"chain": each} for each in [*others, chain])]
    return json.dumps({"nftables": [*listed, *({"rule": {"expr": each}} for each in rules)]}) + "\n"


def iifname(right: object, operator: str = "==") -> dict[str, object]:
    return {"match": {"op": operator, "left": {"meta": {"key": "iifname"}}, "right": right}}


def test_native_chains_that_drop_are_named_with_what_they_accept(host: PlayedHost) -> None:
    state = {"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": ["established"]}}
    host.says("nft", nftables(
        [iifname({"set": ["a", "b"]}), {"accept": None}], [iifname("c"), {"accept": None}],
        [iifname("d"), {"drop": None}], [iifname("e", "!="), {"accept": None}], [state, {"accept": None}],
    ))  # fmt: skip
    assert host.firewall().foreign == (ForeignChain(table="inet filter", name="forward", accepts=("a", "b", "c")),)
    host.says("nft", nftables(policy="accept"))
    assert host.firewall().foreign == ()


def test_firewalld_is_asked_for_its_zones_only_where_it_runs(host: PlayedHost) -> None:
    host.says("firewall-cmd", "public (default)\n  interfaces: eth0 enp1s0f0np0\ntrusted\n  interfaces: enp1s0f1np1\n")
    assert host.firewall().zones is None
    host.shows({"firewalld.service": {"LoadState": "loaded", "ActiveState": "active"}})
    (host.bin / "firewall-cmd").write_text(
        "#!/bin/sh\nprintf 'public (default)\\n  interfaces: eth0 enp1s0f0np0\\n  sources: 10.0.0.0/8\\ntrusted\\n"
        "  interfaces: enp1s0f1np1\\n'\n"
    )
    assert host.firewall().zones == {"eth0": "public", "enp1s0f0np0": "public", "enp1s0f1np1": "trusted"}


def test_an_answer_that_cannot_be_read_is_none(host: PlayedHost) -> None:
    host.says("nft", "syntax error\n")
    with pytest.raises(FactProcessError, match="nft: expected JSON"):
        host.firewall()


@pytest.mark.parametrize("program", ["iptables", "nft", "systemctl"])
def test_a_program_that_fails_is_not_taken_for_an_empty_answer(host: PlayedHost, program: str) -> None:
    host.says(program, "", status=3)
    with pytest.raises(FactProcessError, match=f"{program}.*failed"):
        host.firewall()
