"""`sparks env` prints what a process can be started with, or says in one line why there is nothing to print."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lab.env
from fleet.observation import Observation
from fleet.roster import Roster
from tests.fleet.test_shapes import RING, site
from tests.fleet.test_transport import converged, moved


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    (tmp_path / "group_data").mkdir()
    (tmp_path / "group_data" / "lab1.py").write_text(f"roster = {site('ring', RING)!r}\n")
    path = tmp_path / "lab1.py"
    path.write_text("")
    return path


def run(monkeypatch: pytest.MonkeyPatch, inventory: Path, seen: Any, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr(lab.env, "collect", lambda path, names, looks: dict.fromkeys(names, seen))
    outcome = CliRunner().invoke(lab.env.env, [*arguments, "-i", str(inventory)])
    return outcome.exit_code, outcome.output


def ring() -> Roster:
    return Roster.read(site("ring", RING), "x")


def test_lines_are_an_environment_file(monkeypatch: pytest.MonkeyPatch, inventory: Path) -> None:
    status, out = run(monkeypatch, inventory, converged(ring(), "s3"), "s3")
    assert status == 0
    found = dict(line.split("=", 1) for line in out.splitlines())
    assert found["NCCL_IB_HCA"] == "=rocep1s0f0:1,roceP2p1s0f0:1,rocep1s0f1:1,roceP2p1s0f1:1"
    status, out = run(monkeypatch, inventory, converged(ring(), "s3"), "s3", "--json")
    assert (status, json.loads(out)) == (0, found)


def test_a_moved_gid_leaves_the_index_out(monkeypatch: pytest.MonkeyPatch, inventory: Path) -> None:
    _, out = run(monkeypatch, inventory, moved(converged(ring(), "s1"), "enp1s0f0np0", 5), "s1")
    assert "NCCL_IB_HCA" in out
    assert "GID_INDEX" not in out


def test_a_spark_that_is_not_ready_is_refused(monkeypatch: pytest.MonkeyPatch, inventory: Path) -> None:
    status, out = run(monkeypatch, inventory, Observation(host="s1"), "s1")
    assert (status, out) == (3, "s1 links: expected an observation, found this observation did not look [unobserved]\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["zed"], "zed: expected an enrolled spark of"),
        (["s1", "--cluster", "tp8"], "cluster: expected one of none, found tp8"),
    ],
)
def test_what_cannot_be_asked(
    monkeypatch: pytest.MonkeyPatch, inventory: Path, arguments: list[str], line: str
) -> None:
    status, out = run(monkeypatch, inventory, None, *arguments)
    assert status == 1
    assert line in out
    assert len(out.splitlines()) == 1
