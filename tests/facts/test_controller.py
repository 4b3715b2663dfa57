"""Who runs this is this process on this boot of this machine."""

import os
import subprocess
import sys
from pathlib import Path

from facts.controller import controller, started_ticks


def test_it_is_this_process() -> None:
    found = controller()
    assert found.pid == os.getpid()
    assert found.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert found == controller()


def test_another_process_started_at_another_time() -> None:
    code = "from facts.controller import controller; print(controller().started_ticks)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert int(other.stdout) > controller().started_ticks


def test_a_process_that_is_gone_has_no_start() -> None:
    other = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    assert started_ticks(other.pid) is not None
    other.communicate()
    assert started_ticks(other.pid) is None


def test_its_owner_needs_no_quoting_and_no_word_of_the_environment() -> None:
    code = "from facts.controller import controller; print(controller().owner)"
    environment = {"USER": "mallory; rm", "LOGNAME": "mallory", "PATH": os.environ["PATH"]}
    other = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert other.stdout.strip() == controller().owner
    assert not set(controller().owner) & set(" \n\t'\";$`")
