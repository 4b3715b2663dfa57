"""A host policy on a virtual Spark: real sysctl.d, systemd, tmpfiles, fstab and e4defrag; x86 stands for arm64."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.control import ROOT, converge, fingerprint, on, pyinfra, sparks

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.nightly, pytest.mark.timeout(3600)]

PENDING, REFUSED = 2, 3
DEPLOY = "deploys/host.py"
POLICY: dict[str, Any] = {
    "sysctls": {"vm.swappiness": 7, "vm.watermark_boost_factor": 0},
    "huge_pages": {"enabled": "never"},
    "default_target": "multi-user.target",
    "units": {"e2scrub_all.timer": "masked", "fstrim.timer": "disabled"},
    "oom_protected": ["ssh.service"],
    "remove_ipc": False,
    "tmpfiles": [{"path": "/run/sparks-test", "mode": "0750"}],
}
SEEN = (
    "cat /proc/sys/vm/swappiness /proc/sys/vm/watermark_boost_factor /sys/kernel/mm/transparent_hugepage/enabled; "
    "systemctl get-default; systemctl is-enabled e2scrub_all.timer; stat -c %a /run/sparks-test; "
    "systemctl show -p OOMPolicy --value ssh.service"
)
MADE = ["7", "0", "always madvise [never]", "multi-user.target", "masked", "750", "continue"]


@pytest.fixture(scope="module")
def names(side_lab: "Lab") -> tuple[str, ...]:
    return tuple(machine.name for machine in side_lab.state.machines)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ssh") / "trace.jsonl"


def site(lab: "Lab", folder: Path, policy: dict[str, Any]) -> str:
    values: dict[str, Any] = {}
    exec((ROOT / "group_data" / "virtual.py").read_text(), values)
    sparks = {name: spark | {"host": "plain"} for name, spark in values["roster"]["sparks"].items()}
    hosts = {name: dict(data) for name, data in lab.hosts("pair").items()}
    (folder / "group_data").mkdir()
    (folder / "group_data" / "plain.py").write_text(f"roster = { ({'sparks': sparks, 'hosts': {'plain': policy}})!r}\n")
    (folder / "plain.py").write_text(
        f"from lab.site import site\nplain = site(__file__, {hosts!r}, known_hosts={lab.state.known_hosts!r})\n"
    )
    return str(folder / "plain.py")


@pytest.fixture(scope="module")
def inventory(side_lab: "Lab", tmp_path_factory: pytest.TempPathFactory) -> str:
    return site(side_lab, tmp_path_factory.mktemp("site"), POLICY)


@pytest.fixture(scope="module")
def converged(side_lab: "Lab", inventory: str, trace: Path) -> "Lab":
    side_lab.reset()
    run = converge(trace, inventory, DEPLOY)
    assert run.status == 0, run.said
    return side_lab


def seen(lab: "Lab", name: str) -> list[str]:
    return on(lab, name, SEEN).strip().splitlines()


def test_it_is_so_now_and_a_second_run_changes_nothing(
    converged: "Lab", inventory: str, trace: Path, names: tuple[str, ...]
) -> None:
    assert all(seen(converged, name) == MADE for name in names)
    before = fingerprint(converged, names)
    run = pyinfra(trace, inventory, DEPLOY, "-y")
    assert run.status == 0, run.said
    assert all(f"{name} is as desired" in run.err for name in names)
    assert fingerprint(converged, names) == before


def test_it_is_so_after_a_power_cycle(converged: "Lab", inventory: str, trace: Path, names: tuple[str, ...]) -> None:
    converged.power_cycle(names[0])
    converged.wait(names[0])
    assert seen(converged, names[0]) == MADE
    run = pyinfra(trace, inventory, DEPLOY, "-y")
    assert run.status == 0, run.said
    assert f"{names[0]} is as desired" in run.err


def test_a_later_file_is_refused_by_name_and_line(
    converged: "Lab", inventory: str, trace: Path, names: tuple[str, ...]
) -> None:
    on(converged, names[0], "printf '# mine\\nvm.swappiness = 60\\n' > /etc/sysctl.d/99-mine.conf")
    run = pyinfra(trace, inventory, DEPLOY, "--dry")
    assert run.status == 1, run.said
    assert "expected 7, found 60 by /etc/sysctl.d/99-mine.conf line 2 [sysctl_overridden]" in run.err
    on(converged, names[0], "rm /etc/sysctl.d/99-mine.conf")


def test_a_line_of_fstab_that_says_otherwise_is_refused(
    converged: "Lab", tmp_path: Path, trace: Path, names: tuple[str, ...]
) -> None:
    share = {"/mnt/models": {"source": "nas:/volume1/models", "options": ["nconnect=8"]}}
    on(converged, names[0], "cp /etc/fstab /root/fstab; echo 'nas:/old /mnt/models nfs ro 0 0 # old' >> /etc/fstab")
    run = pyinfra(trace, site(converged, tmp_path, {"mounts": share}), DEPLOY, "--dry")
    assert run.status == 1, run.said
    assert "[fstab_conflict]" in run.err
    on(converged, names[0], "mv /root/fstab /etc/fstab")


def test_of_two_operators_on_each_of_two_hosts_one_changes_it_and_one_is_refused(
    converged: "Lab", tmp_path: Path, names: tuple[str, ...]
) -> None:
    """Four runs at the same time, each with a controller's own receipts."""
    inventory = site(converged, tmp_path, POLICY | {"sysctls": {"vm.swappiness": 9, "vm.watermark_boost_factor": 0}})
    runs = []
    for name in names:
        plan = str(tmp_path / f"{name}.json")
        found = sparks("plan", name, "--scope", "host", "-i", inventory, "-o", plan)
        assert found.returncode == PENDING, found.stdout + found.stderr
        runs += [(name, plan, str(tmp_path / f"{name}-{operator}")) for operator in ("one", "two")]
    with ThreadPoolExecutor(len(runs)) as pool:
        ends = list(pool.map(lambda run: sparks("apply", run[1], "-i", inventory, "--receipts", run[2]), runs))
    for name in names:
        of_it = [end for run, end in zip(runs, ends, strict=True) if run[0] == name]
        said = "\n".join(end.stdout + end.stderr for end in of_it)
        assert sorted(end.returncode for end in of_it) == [0, REFUSED], said
        assert "Traceback" not in said
        assert seen(converged, name) == ["9", *MADE[1:]]
        assert sparks("readback", name, "--scope", "host", "-i", inventory).returncode == 0


@pytest.mark.usefixtures("converged")
def test_the_layout_of_files_is_told_by_the_hosts_own_tool(inventory: str, trace: Path, names: tuple[str, ...]) -> None:
    run = pyinfra(trace, inventory, "fact", "facts.host_mounts.FileLayout", "path=/usr/bin", "--json")
    assert run.status == 0, run.said
    (found,) = json.loads(run.out).values()
    assert all(found[name]["extents"] >= found[name]["best"] > 0 for name in names)
