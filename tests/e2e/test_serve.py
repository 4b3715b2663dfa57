"""The main job on virtual Sparks: found not durable, made durable, and nothing left to do after a power cycle."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from facts.bundle import EVERY_FACT
from fleet.roster import Roster
from lab.site import read_roster
from tests.e2e.control import INVENTORY, ROOT, SERVE, Run, converge, fingerprint, on, pyinfra, sparks
from tests.e2e.kill import MOMENTS, half_written, kill_at, left_behind

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(3600)]

DRY_CHANNELS = 1
"""Exec channels that a no-change dry run opens to each host: everything is observed in one."""
RUN_CHANNELS = 2
"""The same for a real run: once to prepare, once to execute; no observation crosses phases."""

CONTAINERS = "facts.containers.Containers"
DOCKER_RESTS = {"reason": "docker.service is inactive, and to ask would start it"}
"""Docker is installed and does not run: what it has is not known, and that is no "nothing"."""

RAILS = ("enp1s0f1np1", "enP2p1s0f1np1")


@pytest.fixture(scope="module")
def names(lab: "Lab") -> tuple[str, ...]:
    return tuple(machine.name for machine in lab.state.machines)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ssh") / "trace.jsonl"


@pytest.fixture(scope="module")
def roster() -> Roster:
    values, _ = read_roster(str(ROOT / INVENTORY))
    return values


@pytest.fixture(scope="module")
def by_hand(lab: "Lab", names: tuple[str, ...]) -> Iterator[None]:
    """What people do at night: `ip addr` on one Spark, a NetworkManager profile in memory on the other."""
    lab.reset()
    first, second = names
    on(lab, first, "ip addr add 192.168.102.10/24 dev enp1s0f1np1; ip link set enp1s0f1np1 mtu 9000 up")
    on(
        lab,
        second,
        "nmcli con add save no type ethernet con-name hand ifname enp1s0f1np1 ipv4.method manual "
        "ipv4.addresses 192.168.102.11/24 ipv6.method disabled 802-3-ethernet.mtu 9000; nmcli con up hand",
    )
    yield
    lab.reset()


@pytest.fixture(scope="module")
def served(lab: "Lab", names: tuple[str, ...], trace: Path, roster: Roster, by_hand: None) -> list[list[str]]:
    """The hand-made state was reported; some runs were killed; the last one went to its end.

    The value is what was found half written after each kill.
    """
    jumbo = lab.ssh(names[0], "ping -c 2 -M do -s 8972 192.168.102.11")
    assert jumbo.returncode == 0, "the hand-made rail should pass a jumbo ping"
    before = fingerprint(lab, names)
    dry = pyinfra(trace, *SERVE, "--dry")
    assert dry.status == 0, dry.said
    for name, address in zip(names, ("192.168.102.10", "192.168.102.11"), strict=True):
        assert f"{address}/24 is on enp1s0f1np1 but not durable" in dry.err, dry.said
        assert f"{name} is as desired" not in dry.err
    assert fingerprint(lab, names) == before, "a dry run wrote something"
    found = []
    for number, event in MOMENTS:
        kill_at(trace, number, event)
        found.append(half_written(lab, roster))
    run = converge(trace, *SERVE)
    assert run.status == 0, run.said
    return found


def _assert_as_desired(names: tuple[str, ...], trace: Path) -> Run:
    """A dry run finds nothing to do, in one exec channel for each host."""
    dry = pyinfra(trace, *SERVE, "--dry")
    assert dry.status == 0, dry.said
    assert all(f"{name} is as desired" in dry.err for name in names), dry.said
    assert len(dry.channels) == len(names)
    assert set(dry.channels.values()) == {DRY_CHANNELS}, dry.channels
    return dry


def test_killed_runs_left_nothing_half_written_and_were_finished(
    lab: "Lab", served: list[list[str]], roster: Roster
) -> None:
    assert served == [[] for _ in MOMENTS]
    assert left_behind(lab, roster) == []
    for name in roster.enrolled:
        assert on(lab, name, "ls /run/sparks").split() == ["held", "work"], "the lock was let go"


@pytest.mark.usefixtures("served")
def test_served_is_durable_private_and_active(lab: "Lab", names: tuple[str, ...]) -> None:
    for name in names:
        files = on(lab, name, "stat -c '%a %U %n' /etc/netplan/90-NM-*.yaml").splitlines()
        assert len(files) == len(RAILS)
        assert all(line.startswith("600 root ") for line in files)
        assert on(lab, name, "netplan generate 2>&1") == ""
    for subnet in ("192.168.102", "192.168.103"):
        assert lab.ssh(names[0], f"ping -c 2 -M do -s 8972 {subnet}.11").returncode == 0


@pytest.mark.usefixtures("served")
def test_served_keeps_management_and_answers_over_rdma(lab: "Lab", names: tuple[str, ...]) -> None:
    first, second = names
    on(lab, first, "systemd-run -q --unit rping-server --collect timeout 30 rping -s -a 192.168.102.10 -C 3")
    done = lab.ssh(second, "sleep 3; timeout 25 rping -c -a 192.168.102.10 -C 3", timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("served")
def test_served_models_are_resident(lab: "Lab", names: tuple[str, ...], roster: Roster) -> None:
    for name in names:
        assert '"context_length": 8192' in on(lab, name, "curl -s localhost:11434/api/ps | python3 -m json.tool")
    status = sparks("status", "-i", INVENTORY, "--json")
    assert status.returncode == 0, status.stdout + status.stderr
    held = {
        spark["host"]: {(each["name"], each["context"], each["owner"]) for each in spark["ledger"]["residents"]
                        if each["artifact_digest"] is not None}
        for spark in json.loads(status.stdout)["sparks"]
    }  # fmt: skip
    assert held == {
        each.spark: {(pin.model, pin.context, "ours") for pin in each.ollama.residents}
        for each in roster.deployments.values()
    }


@pytest.mark.usefixtures("served")
def test_a_second_run_changes_nothing(lab: "Lab", names: tuple[str, ...], trace: Path) -> None:
    before = fingerprint(lab, names)
    looks = set(_assert_as_desired(names, trace).commands)
    run = pyinfra(trace, *SERVE, "-y")
    assert run.status == 0, run.said
    assert set(run.channels.values()) == {RUN_CHANNELS}, run.channels
    assert set(run.commands) == looks, "a second run sent a command that is no look"
    assert fingerprint(lab, names) == before, "a second run wrote or restarted something"


@pytest.mark.usefixtures("served")
def test_every_fact_answers_and_needs_no_flag(trace: Path, names: tuple[str, ...]) -> None:
    run = pyinfra(trace, INVENTORY, "fact", "facts.bundle.Bundle", "--json")
    assert run.status == 0, run.said
    found = json.loads(run.out)["facts.bundle.Bundle"]
    assert sorted(found) == sorted(names)
    for name, facts in found.items():
        assert set(facts) == {f"facts.{each}" for each in EVERY_FACT}
        unobserved = {fact: value for fact, value in facts.items() if isinstance(value, dict) and "reason" in value}
        assert unobserved == {CONTAINERS: DOCKER_RESTS}, name


@pytest.mark.usefixtures("served")
def test_an_ollama_that_starts_again_gets_its_residents_back(lab: "Lab", names: tuple[str, ...], trace: Path) -> None:
    """Restarted by a person on one Spark, killed and restarted by systemd on the other."""
    restarted, killed = names
    on(lab, restarted, "systemctl restart ollama")
    on(lab, killed, "systemctl kill --kill-whom=main --signal=KILL ollama")
    for name in names:
        loaded = "curl -s localhost:11434/api/ps | grep -q digest"
        on(lab, name, f"for i in $(seq 60); do if {loaded}; then exit 0; fi; sleep 1; done; exit 1")
    _assert_as_desired(names, trace)


@pytest.mark.usefixtures("served")
def test_nothing_is_pending_after_a_power_cycle(lab: "Lab", names: tuple[str, ...], trace: Path) -> None:
    boots = [on(lab, name, "cat /proc/sys/kernel/random/boot_id") for name in names]
    lab.power_cycle(*names)
    assert all(
        on(lab, name, "systemctl is-system-running --wait || true; cat /proc/sys/kernel/random/boot_id") != boot
        for name, boot in zip(names, boots, strict=True)
    )
    _assert_as_desired(names, trace)
