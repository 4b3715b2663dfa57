"""The lab's state, its locks and its refusals, without a machine."""

import json
import multiprocessing
import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from virtual import cache, locks, parallel, state
from virtual.cli import virtual
from virtual.errors import LabError
from virtual.lab import Lab
from virtual.process import Process
from virtual.progress import silent
from virtual.state import LabState, MachineState

STATE = LabState(
    layout="pair",
    image="/cache/image",
    snapshot="/cache/image/pair-2",
    user="spark",
    key="/checkout/.virtual/id_ed25519",
    known_hosts="/checkout/.virtual/known_hosts",
    control="/tmp/sparks-none",
    machines=(
        MachineState(name="vspark1", host="127.0.0.1", port=2201, moved_port=2301, machine_id="0" * 32, process=None),
        MachineState(name="vspark2", host="127.0.0.1", port=2202, moved_port=2302, machine_id="1" * 32, process=None),
    ),
)


def recorded(root: Path, known: LabState) -> Lab:
    (root / ".virtual").mkdir()
    state.write(root / ".virtual" / "lab.json", known)
    return Lab(root)


def test_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    known = STATE.with_process("vspark2", Process(pid=7, start_ticks=9, boot_id="b"))
    assert recorded(tmp_path, known).state == known


def test_a_lab_that_is_down_says_what_to_run(tmp_path: Path) -> None:
    for act in (Lab(tmp_path).reset, lambda: Lab(tmp_path).ssh("vspark1", "true")):
        with pytest.raises(LabError, match="the lab is down: run `sparks virtual up`"):
            act()
    assert Lab(tmp_path).status() == ()
    assert not Lab(tmp_path).is_up()


def test_a_machine_that_is_not_in_the_lab_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="machine: expected one of vspark1, vspark2, found srv5"):
        recorded(tmp_path, STATE).ssh("srv5", "true")


@pytest.mark.parametrize("port", ["enp1s0f0np0", "f0"])
def test_a_cable_that_is_not_there_is_refused(tmp_path: Path, port: str) -> None:
    with pytest.raises(LabError, match="vspark1 enp1s0f0np0: expected a cable, found none in layout pair"):
        recorded(tmp_path, STATE).set_cable("vspark1", port, up=False)


def test_a_machine_is_reached_at_either_address(tmp_path: Path) -> None:
    lab = recorded(tmp_path, STATE)
    assert (lab.shell("vspark1").port, lab.shell("vspark1", moved=True).port) == (2201, 2301)


def test_hosts_are_those_of_the_layout_that_is_up(tmp_path: Path) -> None:
    lab = recorded(tmp_path, STATE)
    assert {name: host["ssh_port"] for name, host in lab.hosts("pair").items()} == {"vspark1": 2201, "vspark2": 2202}
    with pytest.raises(LabError) as refusal:
        lab.hosts("ring4")
    assert refusal.value.message == (
        "the lab: expected layout ring4, found pair: run `sparks virtual down` and `sparks virtual up --layout ring4`"
    )


def test_the_state_of_an_older_lab_says_so(tmp_path: Path) -> None:
    lab = recorded(tmp_path, STATE)
    (tmp_path / ".virtual" / "lab.json").write_text('{"format": 1}')
    with pytest.raises(LabError, match="found format 1 where 2 is known: run `sparks virtual down`"):
        lab.hosts("pair")
    assert lab.down() == 0


def test_down_leaves_the_process_of_a_stale_record_alone(tmp_path: Path) -> None:
    """The number in the record is this test's own: nothing happens to it."""
    own = Process(pid=os.getpid(), start_ticks=1, boot_id="another boot")
    lab = recorded(tmp_path, STATE.with_process("vspark1", own))
    assert lab.down() == 0
    assert not (tmp_path / ".virtual" / "lab.json").exists()


def test_down_clears_what_it_cannot_read(tmp_path: Path) -> None:
    lab = recorded(tmp_path, STATE)
    (tmp_path / ".virtual" / "lab.json").write_text("{")
    with pytest.raises(LabError, match="expected the state of a lab"):
        lab.reset()
    assert lab.down() == 0
    assert lab.status() == ()


def test_status_of_no_lab_exits_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("virtual.lab.project_root", lambda: tmp_path)
    done = CliRunner().invoke(virtual, ["status"])
    assert (done.exit_code, done.stdout) == (3, "the lab is down\n")


@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_user_error_is_one_line(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("virtual.lab.project_root", lambda: tmp_path)
    done = CliRunner().invoke(virtual, ["up", "--count", str(count)])
    assert done.exit_code == 1
    assert done.stderr == f"Error: count: expected 2 to 8 machines for pair, found {count}\n"


def hold(path: Path, ready: "multiprocessing.synchronize.Event", end: "multiprocessing.synchronize.Event") -> None:
    with locks.held(path, "up", silent):
        ready.set()
        end.wait(30)


def test_the_second_says_who_holds_the_lock_and_waits(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    ready, end = context.Event(), context.Event()
    first = context.Process(target=hold, args=(tmp_path / "lock", ready, end))
    first.start()
    ready.wait(30)
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        end.set()

    with locks.held(tmp_path / "lock", "down", say):
        pass
    first.join()
    assert said == [f"waiting for process {first.pid} (up), which holds {tmp_path / 'lock'}"]


def test_what_is_half_made_is_never_in_the_cache(tmp_path: Path) -> None:
    place = tmp_path / "image"

    def fail(scratch: Path, lock: int) -> None:
        (scratch / "base.qcow2").write_text("half")
        raise LabError("disk full")

    def succeed(scratch: Path, lock: int) -> None:
        assert list(scratch.iterdir()) == []
        (scratch / "base.qcow2").write_text("whole")

    with pytest.raises(LabError, match="disk full"):
        cache.obtain(place, "building", fail, silent)
    assert not place.exists()
    (tmp_path / "image.tmp").mkdir()
    (tmp_path / "image.tmp" / "left by a killed maker").touch()
    assert cache.obtain(place, "building", succeed, silent) == place
    assert (place / "base.qcow2").read_text() == "whole"
    assert cache.obtain(place, "building", fail, silent) == place


def test_sweep_keeps_what_is_being_made_and_what_was_used_lately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "root", lambda: tmp_path)
    for age in range(cache.KEPT_IMAGES + 2):
        (tmp_path / f"image{age}").mkdir()
        (tmp_path / f"image{age}" / "base.qcow2").touch()
        os.utime(tmp_path / f"image{age}", (10**9 - age, 10**9 - age))
    for name in ("made.tmp", "abandoned.tmp"):
        (tmp_path / name).mkdir()
    with locks.held(tmp_path / "made.lock", "building", silent):
        cache.sweep()
    left = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert left == {*(f"image{age}" for age in range(cache.KEPT_IMAGES)), "made.tmp"}


def test_each_gives_results_in_order_and_the_first_failure() -> None:
    gate = threading.Event()

    def slow_first(number: int) -> int:
        if number == 0:
            gate.wait(30)
        gate.set()
        return number

    assert parallel.each(slow_first, range(3)) == [0, 1, 2]
    with pytest.raises(ZeroDivisionError):
        parallel.each(lambda number: 1 // number, [1, 0, 2])


def test_state_is_what_an_inventory_needs(tmp_path: Path) -> None:
    recorded(tmp_path, STATE)
    found = json.loads((tmp_path / ".virtual" / "lab.json").read_text())
    assert {"key", "known_hosts", "machines", "user"} <= found.keys()
    assert {"name", "host", "port"} <= found["machines"][0].keys()
