"""A process is stopped only when boot, start time and command line all say that it is ours."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from virtual import process
from virtual.process import Process, identify, is_running, stop, stop_all_below

SLEEP = "import time; print('awake', flush=True); time.sleep(60)"


def start(tmp_path: Path, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
    """A process that calls itself `name`, started and past its exec."""
    child = subprocess.Popen(
        [name, "-c", SLEEP, *arguments], executable=sys.executable, stdout=subprocess.PIPE, cwd=tmp_path
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"awake\n"
    return child


@pytest.fixture
def machine(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    child = start(tmp_path, process.PROGRAM, "-pidfile", str(tmp_path / "vspark1" / "qemu.pid"))
    with child:
        yield child
        child.kill()


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    child = start(tmp_path, "somebody", str(tmp_path / "vspark1" / "qemu.pid"))
    with child:
        yield child
        child.kill()


def known(child: "subprocess.Popen[bytes]") -> Process:
    found = identify(child.pid)
    assert found is not None
    return found


def test_our_machine_is_stopped(machine: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    ours = known(machine)
    assert is_running(ours, tmp_path / "vspark1")
    assert stop(ours, tmp_path / "vspark1")
    assert identify(machine.pid) is None


def test_a_number_that_went_to_somebody_else_is_left_alone(stranger: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    """Even with all of its identity in our file, it is no QEMU."""
    assert not stop(known(stranger), tmp_path / "vspark1")
    assert stranger.poll() is None


@pytest.mark.parametrize("stale", [{"start_ticks": 1}, {"boot_id": "another boot"}])
def test_a_stale_record_stops_nothing(
    machine: "subprocess.Popen[bytes]", tmp_path: Path, stale: dict[str, object]
) -> None:
    assert not stop(known(machine).model_copy(update=stale), tmp_path / "vspark1")
    assert machine.poll() is None


def test_the_machine_of_another_checkout_is_left_alone(machine: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    assert not stop(known(machine), tmp_path / "elsewhere" / "vspark1")
    assert stop_all_below(tmp_path / "elsewhere") == 0
    assert stop_all_below(tmp_path / "vspark") == 0
    assert machine.poll() is None


def test_a_machine_that_nobody_recorded_is_found(
    machine: "subprocess.Popen[bytes]", stranger: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    assert stop_all_below(tmp_path) == 1
    assert identify(machine.pid) is None
    assert stranger.poll() is None


def test_an_ended_process_is_no_process() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert identify(child.pid) is None
    assert identify(os.getpid()) is not None
