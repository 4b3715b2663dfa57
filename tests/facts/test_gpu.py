"""Asking nvidia-smi: its words and statuses as drivers have them, and one that never answers."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from facts.gpu import GpuState
from facts.remote import gpu_smi
from fleet.gpu import GpuAnswer, parse_gpu_state
from fleet.gpu import GpuState as FoundGpus
from fleet.record import Unobserved
from tests.fleet.test_gpu import ROW

REMOTE: Any = gpu_smi
VERSION = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build  (x@y)  Tue Sep 23 2025\n"
    "GCC version:  gcc version 13.3.0\n"
)


def look(tmp_path: Path, script: str | None, seconds: float = 20, module: str | None = VERSION) -> FoundGpus:
    """What the look finds where nvidia-smi is this script."""
    program = tmp_path / "nvidia-smi"
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    if module is not None:
        (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
        (tmp_path / "proc/driver/nvidia/version").write_text(module)
    asked = {"program": str(program), "root": str(tmp_path), "seconds": seconds, "gpu_fields": "g", "app_fields": "a"}
    return parse_gpu_state(json.dumps(REMOTE.look(asked)))


def answers(gpus: str, apps: str) -> str:
    return f"case $1 in --query-gpu=*) {gpus} ;; *) {apps} ;; esac"


def test_it_is_asked_for_csv_without_units(tmp_path: Path) -> None:
    row, app = f"echo '{ROW}'", "echo '4121, /opt/v/bin/python3 serve --api-key s3cr3t, 96560'"
    found = look(tmp_path, f'[ "$2" = --format=csv,noheader,nounits ] || exit 2\n{answers(row, app)}')
    assert (found.answer, found.module) == (GpuAnswer.SEEN, "580.95.05")
    assert not isinstance(found.gpus, Unobserved)
    assert not isinstance(found.apps, Unobserved)
    assert found.gpus[0].name == "NVIDIA GB10"
    assert (found.apps[0].name, found.apps[0].used_bytes) == ("/opt/v/bin/python3", 96560 << 20)


@pytest.mark.parametrize(
    ("words", "status", "answer"),
    [
        ("No devices were found", 6, GpuAnswer.NO_DEVICES),
        ("No devices were found", 0, GpuAnswer.NO_DEVICES),
        (
            "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.178",
            18,
            GpuAnswer.MISMATCH,
        ),
        (
            "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver. "
            "Make sure that the latest NVIDIA driver is installed and running.",
            9,
            GpuAnswer.NO_DRIVER,
        ),
        ("Unable to determine the device handle for GPU000F:01:00.0: Unknown Error", 255, GpuAnswer.FAILED),
        ("Failed to initialize NVML: Unknown Error", 255, GpuAnswer.FAILED),
    ],
)
def test_each_fault_has_an_answer_of_its_own(tmp_path: Path, words: str, status: int, answer: GpuAnswer) -> None:
    found = look(tmp_path, f"echo '{words}'; exit {status}")
    assert (found.answer, found.module) == (answer, "580.95.05")
    if answer is not GpuAnswer.NO_DEVICES:
        assert found.apps == Unobserved(reason=f"nvidia-smi: {words.splitlines()[0]}")


def test_one_that_hangs_is_left_alone_in_time(tmp_path: Path) -> None:
    before = time.monotonic()
    found = look(tmp_path, "sleep 60", seconds=0.3)
    assert time.monotonic() - before < 30
    assert found.answer is GpuAnswer.HUNG
    assert found.gpus == Unobserved(reason="nvidia-smi: no answer in 0.3 s")


def test_apps_that_cannot_be_asked_leave_the_gpus_seen(tmp_path: Path) -> None:
    found = look(tmp_path, answers(f"echo '{ROW}'", "echo 'Insufficient Permissions'; exit 4"))
    assert not isinstance(found.gpus, Unobserved)
    assert found.apps == Unobserved(reason="nvidia-smi, compute apps: Insufficient Permissions")


def test_none_is_installed(tmp_path: Path) -> None:
    assert look(tmp_path, None, module=None).apps == ()


def test_none_is_installed_beside_a_driver(tmp_path: Path) -> None:
    found = look(tmp_path, None)
    assert (found.answer, found.apps) == (
        GpuAnswer.NOT_INSTALLED,
        Unobserved(reason="nvidia-smi is not installed"),
    )


def test_its_limit_is_within_that_of_the_look() -> None:
    """Else a bundle would give up the look before it can say that nvidia-smi hangs."""
    assert json.loads(_arguments())["seconds"] < GpuState.timeout_seconds


def _arguments() -> str:
    command: Any = GpuState().command()
    return json.dumps(command.arguments)
