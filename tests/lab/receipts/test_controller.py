"""Who runs this is this process on this boot, and its command line holds nothing that nobody expected."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet.keyfile import REDACTED
from lab.receipts.controller import PROGRAMS, this_command, this_controller, versions


def test_it_is_this_process() -> None:
    found = this_controller()
    assert found.pid == os.getpid()
    assert found.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert found == this_controller()


def test_another_process_started_at_another_time() -> None:
    code = "from lab.receipts.controller import this_controller; print(this_controller().started_ticks)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert int(other.stdout) > this_controller().started_ticks


def test_every_program_has_a_version() -> None:
    assert set(versions()) == {"python", *PROGRAMS}
    assert "" not in versions().values()


def test_the_command_line_is_kept_by_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/bin/sparks", "converge", "srv5", "--yes", "--password", "hunter2"])
    assert this_command("converge", "srv5") == ("sparks", "converge", "srv5", "--yes", REDACTED, REDACTED)
